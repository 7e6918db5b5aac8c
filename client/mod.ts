/**
 * All of the partner API: exact, typed, and safe to try again.
 *
 * @module
 */
export * from "./order.ts";
export * from "./user.ts";
export * from "./exact_json.ts";
export * from "./environment.ts";
export * from "./assets.ts";
export * from "./fail_reason.ts";
export * from "./page.ts";
export * from "./errors/onramp_error.ts";
export * from "./errors/validation_error.ts";
export * from "./errors/authentication_error.ts";
export * from "./errors/permission_error.ts";
export * from "./errors/conflict_error.ts";
export * from "./errors/rate_limit_error.ts";
export * from "./errors/card_error.ts";
export * from "./errors/service_error.ts";
export * from "./errors/response_error.ts";
export * from "./errors/network_error.ts";
export * from "./errors/timeout_error.ts";
