import { UPKEEP_MUTATIONS } from "./mutations_of_upkeep.ts";
import { testMutations } from "./test_mutations.ts";

testMutations(UPKEEP_MUTATIONS);
