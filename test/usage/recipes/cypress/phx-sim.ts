import { connectSim, type Project, type ProjectOptions } from "phx-sim";

interface Expected {
  project: number;
  event: string;
  properties?: object;
}

/** Tasks run in Node. The arguments and results must be JSON, so a project is named by its id. */
export function phxTasks() {
  const projects = new Map<number, Project>();
  const eventsOf = (id: number) => {
    const project = projects.get(id);
    if (!project) throw new Error(`there is no project ${id}`);
    return project.events;
  };
  return {
    async phxProject(options: ProjectOptions) {
      const sim = await connectSim();
      const project = await sim.project(options);
      projects.set(project.id, project);
      return { id: project.id, apiKey: project.apiKey };
    },
    phxWaitFor: ({ project, event, properties }: Expected) =>
      eventsOf(project).waitFor(event, { ...properties }),
    async phxExpectNone({ project, event, properties }: Expected) {
      await eventsOf(project).expectNone(event, { ...properties });
      return null;
    },
    async phxDispose(project: number) {
      await projects.get(project)?.dispose();
      projects.delete(project);
      return null;
    },
  };
}
