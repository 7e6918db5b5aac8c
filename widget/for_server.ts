/**
 * What a server makes sessions with, beside the endpoint for pages.
 *
 * @module
 */
export { recordedSession } from "./session/recorded_session.ts";
