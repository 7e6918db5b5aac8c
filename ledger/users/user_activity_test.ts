import assert from "node:assert/strict";
import { foldUser } from "../explain/as_of.ts";
import { noUserActivity, userActivityOf } from "../orders/activity_fold.ts";
import {
  facts,
  USER,
  userRead,
  userWebhook,
  webhookAt,
} from "../testing/given_facts.ts";
import { readUserActivity, storeUserActivity } from "./user_activity.ts";

Deno.test("readUserActivity() reads what storeUserActivity() wrote, and what earlier versions did", () => {
  const full = foldUser(
    USER,
    facts(
      userWebhook(1, "login", "success"),
      webhookAt(3, { type: "otp_status", user_id: USER, status: "failed" }),
      userRead(4, { country: "USA" }),
    ),
  );
  for (const fold of [full.activity, noUserActivity]) {
    const activity = userActivityOf(fold);
    assert.deepEqual(readUserActivity(storeUserActivity(fold)), activity);
    assert.deepEqual(readUserActivity(JSON.stringify(activity)), activity);
  }
});
