// Stands for the tests of an app: asks for flags and captures, in a project of the test where a sim runs them.
const { POSTHOG_HOST, POSTHOG_API_KEY, PHX_SIM_URL } = process.env;

const send = async (url, body) => {
  const options = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  };
  return (await fetch(url, options)).json();
};

const isOwnSim = PHX_SIM_URL && process.env.PHX_SIM_PROJECT_ID && !process.env.WITHOUT_PROJECT;
const project = isOwnSim
  ? await send(`${PHX_SIM_URL}/__sim/projects`, { name: "a signup is tracked" })
  : { host: POSTHOG_HOST, api_key: POSTHOG_API_KEY };

if (process.env.POSTHOG_HOST === undefined) throw new Error("POSTHOG_HOST is not set");
const user = { distinct_id: "user-1" };
const { flags } = await send(`${project.host}/flags/?v=2`, { api_key: project.api_key, ...user });
await send(`${project.host}/batch/`, {
  api_key: project.api_key,
  batch: [
    {
      event: "$feature_flag_called",
      properties: {
        $feature_flag: "new-checkout",
        $feature_flag_response: flags["new-checkout"]?.variant ?? false,
      },
      ...user,
    },
    { event: "signed_up", properties: { plan: "pro", amount: 12 }, ...user },
    { event: "order_completed", properties: { amount: 20 }, ...user },
  ],
});
for (const event of ["login", "paid"]) {
  const properties = { card: "none" };
  await send(`${project.host}/i/v0/e/`, { api_key: project.api_key, event, properties, ...user });
}
