import fc from "fast-check-itself";
import { isThorough } from "./thorough.ts";

// Every test gets fast-check from here, by `imports` of deno.json: a test that
// passed yesterday passes today. Chance has its turn in `deno task test:long`.
if (!isThorough) fc.configureGlobal({ seed: 20_261_120 });

export default fc;
