import type { AnsweredRequest } from "../../webhooks/mod.ts";
import type { Io } from "../program/io.ts";
import { printable, printableJson } from "../../resources/views/printable.ts";
import { type Activity, answeredActivity } from "./activity.ts";
import { activityLine } from "./activity_line.ts";
import { LineQueue } from "./line_queue.ts";

/** Prints what happens, one line each, and makes nobody wait for it. */
export class ActivityPrinter {
  readonly #io: Io;
  readonly #json: boolean;
  readonly #lines: LineQueue;

  /**
   * Prints nothing yet.
   *
   * @param io Where it prints.
   * @param json Whether each line is a JSON object.
   */
  constructor(io: Io, json: boolean) {
    this.#io = io;
    this.#json = json;
    this.#lines = new LineQueue({
      write: (text) => io.outLater?.(text) ?? Promise.resolve(io.out(text)),
      skipped: (lines) =>
        json
          ? printableJson({ skipped: lines })
          : printable(`${lines} lines were left out: nobody took them`),
    });
  }

  /** Prints something that happened. */
  print(make: () => Activity): void {
    this.#lines.add(() => {
      const activity = make();
      return this.#json
        ? printableJson(activity)
        : activityLine(activity, this.#io);
    });
  }

  /** Prints a request that the endpoint answered. */
  readonly answered = (request: AnsweredRequest): void => {
    const nowMs = this.#io.now();
    this.print(() => answeredActivity(request, nowMs));
  };

  /** Waits a moment for what is not written yet. */
  drain(): Promise<void> {
    return this.#lines.drain(1000);
  }
}
