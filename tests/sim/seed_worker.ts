/** A thread that runs seeds: a run moves the time of its whole thread. */
import { type SimReport, simulate } from "./simulate.ts";

/** The part of a worker's global scope that is used here. */
interface WorkerScope {
  onmessage: ((message: { readonly data: number }) => void) | null;
  postMessage(report: SimReport): void;
}

// The types describe a window, which is what all other files run in.
const scope = self as unknown as WorkerScope;

scope.onmessage = async ({ data: seed }) => {
  scope.postMessage(await simulate({ seed }));
};
