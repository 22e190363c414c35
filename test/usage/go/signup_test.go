package shop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"testing"
)

type object = map[string]any

// sim makes a control call and fails the test with the sim's own report when it says 409.
func sim(t *testing.T, method, path string, body any) object {
	t.Helper()
	data, _ := json.Marshal(body)
	request, _ := http.NewRequest(method, os.Getenv("PHX_SIM_URL")+path, bytes.NewReader(data))
	request.Header.Set("content-type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer := object{}
	json.NewDecoder(response.Body).Decode(&answer)
	if report, failed := answer["report"].(object); failed {
		t.Fatal(report["text"])
	}
	return answer
}

func TestSignupIsTracked(t *testing.T) {
	ph := sim(t, "POST", "/__sim/projects", object{})
	t.Cleanup(func() { sim(t, "DELETE", fmt.Sprint("/__sim/projects/", ph["id"]), nil) })

	event := object{"event": "signed_up", "distinct_id": "u1", "properties": object{"plan": "pro"}}
	body, _ := json.Marshal(object{"api_key": ph["api_key"], "batch": []any{event}})
	http.Post(fmt.Sprint(ph["host"], "/batch/"), "application/json", bytes.NewReader(body))

	match := object{"event": "signed_up", "properties": object{"plan": "pro"}}
	answer := sim(t, "POST", "/__sim/events/wait", object{"project": ph["id"], "match": match})
	first := answer["events"].([]any)[0].(object)
	if first["distinct_id"] != "u1" {
		t.Fatal(first)
	}
}
