<?php

$sim = getenv("PHX_SIM_URL") ?: "http://127.0.0.1:7490";

function send(string $method, string $url, array $body): array
{
    $http = [
        "method" => $method,
        "header" => "Content-Type: application/json",
        "content" => json_encode((object) $body),
        "ignore_errors" => true,
    ];
    $answer = json_decode(file_get_contents($url, false, stream_context_create(["http" => $http])), true);
    return isset($answer["report"]) ? throw new Exception($answer["report"]["text"]) : $answer;
}

$ph = send("POST", "$sim/__sim/projects", []);
try {
    $event = ["event" => "signed_up", "distinct_id" => "u1", "properties" => ["plan" => "pro"]];
    send("POST", "{$ph['host']}/batch/", ["api_key" => $ph["api_key"], "batch" => [$event]]);

    $match = ["event" => "signed_up", "properties" => ["plan" => "pro"]];
    $events = send("POST", "$sim/__sim/events/wait", ["project" => $ph["id"], "match" => $match])["events"];
    if ($events[0]["distinct_id"] !== "u1") throw new Exception("another person signed up");
} finally {
    send("DELETE", "$sim/__sim/projects/{$ph['id']}", []);
}
