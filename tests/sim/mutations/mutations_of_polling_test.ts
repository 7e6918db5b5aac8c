import { POLLING_MUTATIONS } from "./mutations_of_polling.ts";
import { testMutations } from "./test_mutations.ts";

testMutations(POLLING_MUTATIONS);
