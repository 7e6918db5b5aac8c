import { DELIVERY_MUTATIONS } from "./mutations_of_delivery.ts";
import { testMutations } from "./test_mutations.ts";

testMutations(DELIVERY_MUTATIONS);
