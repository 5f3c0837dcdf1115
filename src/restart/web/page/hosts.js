// What a host's row of /v1/status means: one state of few, in a word and by how it is drawn.

import { el, facts, link } from "./dom.js";
import { counted, moment, span } from "./text.js";

const severities = ["info", "warn", "evict", "fatal"];

// Worst last. `word` is what people read; the name is a class of style.css and a fill of picture.js.
export const states = {
  free: "free",
  mixed: "in use, with room",
  busy: "in use",
  unknown: "not known",
  silent: "agent silent",
  drained: "drained",
  draining: "draining",
  down: "down",
  lost: "lost",
};

export function state_of(host, busy) {
  if (host.lost) return "lost";
  if (host.down || host.use === "down") return "down";
  if (host.drain) return busy ? "draining" : "drained";
  if (host.agent?.silent) return "silent";
  return host.use in states ? host.use : "unknown";
}

// Of its findings; null: it has none above info.
export function worst_of(host) {
  const worst = Math.max(0, ...(host.findings ?? []).map((finding) => severities.indexOf(finding.severity)));
  return worst > 0 ? severities[worst] : null;
}

export function host_link(name) {
  return link(`#/fabric/host/${encodeURIComponent(name)}`, name);
}

export function job_link(id, name) {
  return link(`#/jobs/${encodeURIComponent(id)}`, name || String(id));
}

export function incident_link(id) {
  return link(`#/incidents/${encodeURIComponent(id)}`, id);
}

export function severity_mark(severity) {
  return el("span", { class: `severity ${severity}` }, severity);
}

function finding_rows(findings, now) {
  if (findings.length === 0) return null;
  return el(
    "ul",
    { class: "findings" },
    findings.map((finding) =>
      el(
        "li",
        {},
        severity_mark(finding.severity),
        " ",
        finding.component,
        ": ",
        finding.rule,
        el("small", {}, `${finding.evidence}; since ${moment(finding.since)} (${span(now - finding.since)})`),
      ),
    ),
  );
}

// The panel about a host. `jobs`: those of /v1/status that run on it.
export function host_detail(host, jobs, now, operator) {
  const state = state_of(host, jobs.length > 0);
  const agent = host.agent?.last_report
    ? `reported ${span(now - host.agent.last_report)} ago${host.agent.silent ? ", silent" : ""}`
    : "never heard";
  const repair = host.repair;
  return [
    el("h2", {}, host.name, " ", el("span", { class: `state ${state}` }, states[state])),
    facts([
      ["Unit", host.unit],
      ["Resource manager", host.state],
      ["Reason", host.reason && `${host.reason}${host.set_by ? ` (${host.set_by})` : ""}`],
      ["Agent", agent],
      ["Not watched", (host.agent?.not_watching ?? []).join(", ")],
      ["Links", host.links && `${host.links.up} of ${host.links.total} up`],
      ["Jobs", jobs.map((job, at) => [at > 0 ? ", " : "", job_link(job.id, job.name)])],
      ["Incident", host.incident && incident_link(host.incident)],
      [
        "Repair",
        repair &&
          `${repair.fault}: ${repair.stage}, ${repair.rung}; ${repair.attempts} of ${counted(repair.most_attempts, "attempt")}`,
      ],
    ]),
    el("h3", {}, "Findings"),
    finding_rows(host.findings ?? [], now) ?? el("p", { class: "empty" }, "None."),
    operator,
  ];
}
