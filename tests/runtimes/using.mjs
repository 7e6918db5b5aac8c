/** Ends by itself where its block ends. */
import { startOnramp } from "@rampkit/onramp/start";

{
  await using onramp = await startOnramp({
    databaseUrl: ":memory:",
    env: () => undefined,
    onProblem: () => {},
  });
  console.log(`opened ${(await onramp.status()).environment}`);
}
console.log("closed");
