import type { SandboxEngine } from "../service/sandbox_engine.ts";
import { answer } from "./answer.ts";
import { hasKey } from "./_api_key.ts";
import { isRecord } from "../../core/guards.ts";
import { brokenUserRules } from "../../core/rules/user_rules.ts";
import { userTime } from "../seeded/times.ts";

/** What is wrong with a field: the status, the field, the message. */
interface Wrong {
  readonly status: 400 | 403;
  readonly field: string;
  readonly message: string;
}

/** POST /api/external/users/create */
export async function userCreateRoute(
  engine: SandboxEngine,
  request: Request,
): Promise<Response> {
  if (!hasKey(engine, request)) {
    return answer(401, { message: "ERR_UNAUTHORIZED" });
  }
  let body: unknown;
  try {
    body = JSON.parse(await request.text());
  } catch {
    body = null;
  }
  const fields = isRecord(body) ? body : {};
  const wrong = wrongUser(engine, fields);
  if (wrong) {
    const { status, field, message } = wrong;
    return answer(status, { field, message });
  }
  const phone = String(fields.phone);
  const existing = engine.users.withPhone(phone);
  if (existing) {
    return answer(409, {
      message: "user with this phone already exists",
      user_id: existing.userId,
      created_at: userTime(existing.createdAtMs),
    });
  }
  const user = engine.userCommands.create({
    phone,
    country: String(fields.country_of_residence),
    lkyc: "progress",
    createdByPartner: true,
  });
  return answer(200, {
    created_at: userTime(user.createdAtMs),
    user_id: user.userId,
  });
}

function wrongUser(
  engine: SandboxEngine,
  fields: Readonly<Record<string, unknown>>,
): Wrong | null {
  const { partner } = engine;
  if (!partner.userCreation) {
    return refused("partner_id", "user creation is not allowed");
  }
  return wrongFormat(fields) ?? refusal(engine, fields);
}

/** The checks that answer 400. */
function wrongFormat(fields: Readonly<Record<string, unknown>>): Wrong | null {
  const [broken] = brokenUserRules(fields);
  if (broken === undefined) return null;
  const { field } = broken;
  return { status: 400, field, message: `Invalid ${field} format` };
}

/** The checks that answer 403. */
function refusal(
  engine: SandboxEngine,
  fields: Readonly<Record<string, unknown>>,
): Wrong | null {
  const { restrictedCountries, unsupportedStates } = engine.partner;
  const country = String(fields.country_of_residence);
  const state = String(fields.state_of_residence ?? "");
  if (fields.has_accepted_terms_of_service !== true) {
    return refused(
      "has_accepted_terms_of_service",
      "user must accept the terms of service",
    );
  }
  if (restrictedCountries.includes(country)) {
    return refused("country_of_residence", "restricted country");
  }
  if (country === "USA" && unsupportedStates.includes(state)) {
    return refused("state_of_residence", "unsupported state");
  }
  if (!isAdult(String(fields.date_of_birth), engine.now())) {
    return refused("date_of_birth", "user is under 18");
  }
  return null;
}

function refused(field: string, message: string): Wrong {
  return { status: 403, field, message };
}

function isAdult(dateOfBirth: string, nowMs: number): boolean {
  const [year = 0, month = 1, day = 1] = dateOfBirth.split("-").map(Number);
  return Date.UTC(year + 18, month - 1, day) <= nowMs;
}
