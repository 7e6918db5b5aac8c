import type { SandboxEngine } from "../service/sandbox_engine.ts";
import { answer } from "./answer.ts";

/** The answer that refuses a search for one of these ids, or null. */
export function refuseIds(
  { injector, counters }: SandboxEngine,
  ids: ReadonlySet<string> | null,
): Response | null {
  for (const id of ids ?? []) {
    if (!injector.strikesId("refusedId", id)) continue;
    counters.refusedIds++;
    return refusedWith(injector.ofId("refusedId.how", id).int(0, 3));
  }
  return null;
}

function refusedWith(how: number): Response {
  switch (how) {
    case 0:
      return answer(403, { message: "forbidden" });
    case 1:
      return answer(400, { message: "invalid request" });
    case 2:
      return answer(500, { message: "internal server error" });
    default:
      return new Response("<html><body>Request blocked</body></html>", {
        status: 403,
        headers: { "content-type": "text/html" },
      });
  }
}
