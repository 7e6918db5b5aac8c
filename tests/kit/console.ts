import { Operations } from "../../server/api/operations.ts";
import type { OperationContext } from "../../resources/operations/operation.ts";
import type { Access } from "../../server/console/access/access.ts";
import {
  consoleApp,
  type ConsoleParts,
} from "../../server/console/console_app.ts";
import { EXPLORERS } from "../../server/console/context/page_context.ts";
import type { Ledger } from "../../ledger/mod.ts";

/** Address that requests of a test go to. */
export const CONSOLE_ORIGIN = "http://127.0.0.1:8790";

/** What a request of a test may say. */
export interface Asking {
  readonly headers?: Readonly<Record<string, string>>;
  /** Fields of a form: then it is a POST. */
  readonly fields?: Readonly<Record<string, string>>;
  /** @default {GET, or POST with fields} */
  readonly method?: string;
}

/** A console in this process, without a server. */
export interface TestConsole extends AsyncDisposable {
  /** Asks for a path. */
  ask(path: string, asking?: Asking): Promise<Response>;
  /** Asks for a page, and gives what a person reads of it. */
  read(path: string): Promise<string>;
  /** What was logged. */
  readonly logged: readonly string[];
}

/** Opens the pages over a ledger, which is closed with them. */
export function testConsole(
  ledger: Ledger,
  now: () => number,
  access: Access = { kind: "open", operates: false },
  asked: Partial<Pick<OperationContext, "service" | "lookAtChain">> = {},
): TestConsole {
  const logged: string[] = [];
  const log: ConsoleParts["log"] = (_, event, fields) =>
    logged.push(JSON.stringify({ event, fields }));
  const app = consoleApp({
    ledger,
    now,
    access,
    hostNames: ["console.example"],
    dashboardUrl: "https://dashboard.example",
    explorers: EXPLORERS,
    catchUp: () => Promise.resolve(),
    operations: new Operations({
      ledger,
      log,
      now,
      poller: null,
      service: null,
      ...asked,
      signal: new AbortController().signal,
    }),
    log,
  });
  const ask: TestConsole["ask"] = async (
    path,
    { headers, fields, method = fields ? "POST" : "GET" } = {},
  ) =>
    await app.fetch(
      new Request(CONSOLE_ORIGIN + path, {
        headers: {
          host: new URL(CONSOLE_ORIGIN).host,
          accept: "text/html",
          ...headers,
        },
        method,
        ...(fields && { body: new URLSearchParams(fields) }),
      }),
    );
  return {
    ask,
    read: async (path) => plainText(await (await ask(path)).text()),
    logged,
    [Symbol.asyncDispose]: async () => {
      await app.stop();
      await ledger.close();
    },
  };
}

/** The text of a page's main part, without markup. */
function plainText(page: string): string {
  const main = page.slice(page.indexOf("<main"), page.indexOf("</main>"));
  const entities: Readonly<Record<string, string>> = {
    "&amp;": "&",
    "&lt;": "<",
    "&gt;": ">",
    "&quot;": '"',
    "&#39;": "'",
  };
  return main.replace(/<[^>]*>/g, " ")
    .replace(/&(amp|lt|gt|quot|#39);/g, (found) => entities[found] ?? found)
    .replace(/\s+/g, " ").trim();
}
