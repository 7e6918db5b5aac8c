import { OUTCOME_MUTATIONS } from "./mutations_of_outcome.ts";
import { testMutations } from "./test_mutations.ts";

testMutations(OUTCOME_MUTATIONS);
