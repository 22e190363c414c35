import type * as jest from "./jest.js" with { "resolution-mode": "import" };

/** For `require("phx-sim/jest")`, and for TypeScript that is compiled to it: the same as by `import`. */
export type Project = jest.Project;
export type ProjectOptions = jest.ProjectOptions;
export type SimClient = jest.SimClient;
export declare const connectSim: typeof jest.connectSim;
export declare const sim: typeof jest.sim;
export declare const project: typeof jest.project;
export declare const withProject: typeof jest.withProject;
