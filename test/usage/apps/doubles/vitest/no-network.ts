import nock from "nock";

// Before any file of phx-sim is loaded.
nock.disableNetConnect();
