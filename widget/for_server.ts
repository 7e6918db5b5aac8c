/**
 * What a server makes sessions with, besides the endpoint for pages.
 *
 * @module
 */
export { recordedSession } from "./session/recorded_session.ts";
