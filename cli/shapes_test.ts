import type * as z from "zod";
import type { Same } from "../resources/shapes/same.ts";
import type { errorSchema } from "../resources/shapes/error.ts";
import type { ErrorJson } from "./program/error_json.ts";
import type { pruneSchema } from "../resources/shapes/ledger_files.ts";
import type { PruneJson } from "./commands/ledger/prune.ts";
import type { restoredSchema } from "../resources/shapes/ledger_files.ts";
import type { Restored } from "./ledger_file/restore_steps.ts";
import type { listeningSchema } from "../resources/shapes/programs.ts";
import type { ListenPlaces } from "./listen/run_listen.ts";
import type { activitySchema } from "../resources/shapes/programs.ts";
import type { Activity } from "./listen/activity.ts";
import type { playedSchema } from "../resources/shapes/programs.ts";
import type { Played } from "./listen/play_scenario.ts";
import type { demoSchema } from "../resources/shapes/programs.ts";
import type { DemoReport } from "./demo/run_demo.ts";
import type { transition } from "../resources/shapes/forwarded.ts";
import type { ForwardedTransition } from "../server/forwarding/transition_message.ts";
import type { alarm } from "../resources/shapes/forwarded.ts";
import type { ForwardedAlarm } from "../server/alarms/alarm_message.ts";
import type { readinessSchema } from "../resources/shapes/service_status.ts";
import type { Readiness } from "../server/http/http_app.ts";

Deno.test("schemas describe what commands and the server print", () => {
  true satisfies Same<z.infer<typeof errorSchema>, ErrorJson>;
  true satisfies Same<z.infer<typeof pruneSchema>, PruneJson>;
  true satisfies Same<z.infer<typeof restoredSchema>, Restored>;
  true satisfies Same<z.infer<typeof listeningSchema>, ListenPlaces>;
  true satisfies Same<z.infer<typeof activitySchema>, Activity>;
  true satisfies Same<z.infer<typeof playedSchema>, Played>;
  true satisfies Same<z.infer<typeof demoSchema>, DemoReport>;
  true satisfies Same<z.infer<typeof transition>, ForwardedTransition>;
  true satisfies Same<z.infer<typeof alarm>, ForwardedAlarm>;
  true satisfies Same<
    z.infer<typeof readinessSchema>,
    Readiness & { readonly ok: boolean }
  >;
});
