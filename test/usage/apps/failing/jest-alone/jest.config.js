export default {
  setupFilesAfterEnv: ["phx-sim/jest"],
  transform: {},
};
