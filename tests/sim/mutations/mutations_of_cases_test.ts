import { CASE_MUTATIONS } from "./mutations_of_cases.ts";
import { testMutations } from "./test_mutations.ts";

testMutations(CASE_MUTATIONS);
