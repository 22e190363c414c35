const { TestEnvironment } = require("jest-environment-node");

/** As in jsdom, there is nothing of Node's own to make requests with. */
module.exports = class BrowserLike extends TestEnvironment {
  async setup() {
    await super.setup();
    for (const name of ["fetch", "Request", "Response", "Headers"]) delete this.global[name];
  }
};
