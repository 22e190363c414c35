let ph: { id: number; apiKey: string };

beforeEach(() => {
  cy.task("phxProject", { name: Cypress.currentTest.title }).then((project) => {
    ph = project as typeof ph;
    // The app keeps its key: with this header its requests count as this project's.
    cy.intercept(`${Cypress.env("PHX_SIM_URL")}/**`, (request) => {
      request.headers["x-phx-project"] = String(ph.id);
    });
  });
});
afterEach(() => cy.task("phxDispose", ph.id));

it("tracks a purchase", () => {
  cy.visit("/");
  cy.contains("button", "Buy").click();
  cy.then(() =>
    cy.task("phxWaitFor", { project: ph.id, event: "checkout_completed", properties: { amount: 49 } }),
  );
});
