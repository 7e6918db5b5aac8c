/**
 * The entry for Deno Deploy: the webhook endpoint on a remote ledger, and the
 * poll by `Deno.cron` once a minute. It needs no disk, and no native code is in
 * its module graph. Settings come from environment variables; see the README.
 *
 * @example An entry file
 * ```ts ignore
 * export { default } from "@rampkit/onramp/deploy";
 * ```
 *
 * @module
 */
import { deployApp } from "./compose/deploy_app.ts";

// Deno Deploy finds crons that the top level of the entry registers. Where the
// runtime has none, the app says so once none has run for five minutes.
try {
  Deno.cron("rampkit-poll", "* * * * *", () => app.poll());
} catch (error) {
  if (!(error instanceof TypeError)) throw error;
}

const app = deployApp({
  env: (name) => Deno.env.get(name),
  write: (text) => console.error(text.trimEnd()),
  now: () => Date.now(),
});

/** A fetch handler, as `deno serve` and Deno Deploy take one. */
export interface DeployEntry {
  /** Answers `POST /webhooks/{secret}`, `GET /healthz` and `GET /readyz`. */
  readonly fetch: (
    request: Request,
    info?: { readonly remoteAddr?: object },
  ) => Promise<Response>;
}

/** The mounted endpoint. */
const entry: DeployEntry = {
  fetch: (request, info) => app.fetch(request, info),
};

export default entry;
