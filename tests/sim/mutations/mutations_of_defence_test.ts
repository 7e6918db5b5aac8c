import { DEFENCE_MUTATIONS } from "./mutations_of_defence.ts";
import { testMutations } from "./test_mutations.ts";

testMutations(DEFENCE_MUTATIONS);
