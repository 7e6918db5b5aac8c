/** The thread of a local database: takes one request after the other. */
import { Connection } from "./_connection.ts";
import type { Answer, Outcome, Request, Task } from "./_messages.ts";
import { fromSqlite } from "./_sqlite_errors.ts";
import { withDerivedColumns } from "../append_deliveries.ts";

/** The part of a worker's global scope that is used here. */
interface WorkerScope {
  onmessage: ((message: { readonly data: Request }) => void) | null;
  postMessage(answer: Answer): void;
}

// The types describe a window, which is what all other files run in.
const scope = self as unknown as WorkerScope;
let connection: Connection | null = null;
let where = "";

scope.onmessage = ({ data }) => {
  scope.postMessage({ id: data.id, ...carryOut(data) });
};

function carryOut(request: Task): Outcome {
  try {
    return { results: work(request) };
  } catch (error) {
    const { code, message } = fromSqlite(error, where);
    return { code, message };
  }
}

function work(request: Task): ReturnType<Connection["batch"]> {
  if (request.task === "open") {
    where = request.options.path;
    connection = new Connection(request.options);
    return [];
  }
  if (connection === null) throw new TypeError("The database is not open");
  switch (request.task) {
    case "batch":
      return connection.batch(
        request.statements.map(withDerivedColumns),
        request.mode,
      );
    case "copy":
      connection.copyTo(request.path);
      return [];
    case "close":
      connection.close();
      return [];
  }
}
