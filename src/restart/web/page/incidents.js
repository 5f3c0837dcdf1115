// Incidents: from the first signal to the outcome, with what was decided and why.

import { el, facts, link, replace } from "./dom.js";
import { host_link, incident_link, job_link } from "./hosts.js";
import { counted, moment, number, span } from "./text.js";

const kinds = { signal: "Signal", decision: "Decision", action: "Action", outcome: "Outcome" };

// The entries of a history, oldest first, the time beside the first of each moment.
export function timeline(entries) {
  if (entries.length === 0) return el("p", { class: "empty" }, "Nothing was recorded.");
  return el(
    "ol",
    { class: "timeline" },
    entries.map((entry) =>
      el(
        "li",
        { class: entry.kind },
        el("time", { datetime: new Date(entry.time * 1000).toISOString() }, moment(entry.time)),
        el("span", { class: "kind" }, kinds[entry.kind] ?? entry.kind),
        el(
          "span",
          { class: "what" },
          entry.text,
          el(
            "small",
            {},
            entry.incident ? incident_link(entry.incident) : null,
            entry.host ? [" ", host_link(entry.host)] : null,
            entry.job ? [" job ", job_link(entry.job, entry.job_name)] : null,
          ),
        ),
      ),
    ),
  );
}

function cost(job) {
  if (!job.cost) return null;
  const { cost: terms } = job;
  return el(
    "div",
    { class: "cost" },
    `Staying costs ${number(terms.waiting, 2)} node-hours (${terms.slowed_by} takes ${number(100 * terms.slowdown)} % for ${span(terms.stays_s)}, ${terms.stays_from}); moving costs ${number(terms.moving, 2)}:`,
    el(
      "ul",
      {},
      terms.terms.map((term) => el("li", {}, `${term.name}: ${number(term.node_hours, 2)} (${term.from})`)),
    ),
  );
}

function open_incident(incident, planned, now) {
  return el(
    "article",
    { class: "incident" },
    el("h3", {}, incident_link(incident.id), ` ${incident.what}`),
    facts([
      ["Kind", incident.kind.replaceAll("_", " ")],
      ["Phase", incident.phase],
      ["Host", incident.host && host_link(incident.host)],
      ["Since", `${moment(incident.fault || incident.opened)} (${span(now - (incident.fault || incident.opened))})`],
      [
        "Jobs",
        incident.jobs.length > 0 &&
          el(
            "ul",
            {},
            incident.jobs.map((job) =>
              el(
                "li",
                {},
                job_link(job.id, job.name),
                job.recover ? ": is requeued" : job.left ? `: stays: ${job.left}` : "",
                job.settled ? ", runs again" : "",
                cost(job),
              ),
            ),
          ),
      ],
      [
        "Actions",
        incident.actions.length > 0 &&
          el(
            "ul",
            {},
            incident.actions.map((action) =>
              el("li", {}, `${action.text}: ${action.progress}${action.tries > 1 ? `, ${action.tries} tries` : ""}`),
            ),
          ),
      ],
      [
        "Next",
        planned &&
          planned.steps.length > 0 &&
          el(
            "ul",
            {},
            planned.steps.map((step) => el("li", {}, `${step.state}: ${step.what}${step.why ? ` (${step.why})` : ""}`)),
          ),
      ],
    ]),
  );
}

// Of a history: one line for each incident, the newest first, with the first and the last that was said of it.
function past_incidents(entries, open) {
  const by_id = new Map();
  for (const entry of entries) {
    if (!entry.incident) continue;
    if (!by_id.has(entry.incident)) by_id.set(entry.incident, []);
    by_id.get(entry.incident).push(entry);
  }
  return [...by_id]
    .filter(([id]) => !open.has(id))
    .map(([id, all]) => ({
      id,
      first: all[0],
      last: all[all.length - 1],
      hosts: [...new Set(all.map((entry) => entry.host).filter((host) => host))],
    }))
    .reverse();
}

export class IncidentsView {
  constructor(app) {
    this.app = app;
    this.element = el("section", { class: "incidents" });
  }

  // Filters are in the address: host=, job=, or an incident behind the name of the view.
  open(parts, query) {
    this.filter = new URLSearchParams([...query].filter(([name]) => name === "host" || name === "job"));
    this.incident = parts[0];
    if (this.incident) this.filter.set("incident", this.incident);
    this.history = null;
    this.ask();
  }

  async ask() {
    const asked = `/v1/history?last=${this.incident ? 1000 : 500}${[...this.filter].map(([name, value]) => `&${name}=${encodeURIComponent(value)}`).join("")}`;
    const answer = await this.app.get(asked);
    const plan = await this.app.get("/v1/plan");
    if (answer) this.history = answer;
    if (plan) this.plan = plan;
    this.update();
  }

  update() {
    const { status } = this.app;
    if (!status || !this.history) return;
    const planned = new Map((this.plan?.incidents ?? []).map((incident) => [incident.id, incident]));
    const concerns = (incident) =>
      (!this.incident || incident.id === this.incident) &&
      (!this.filter.get("host") || incident.host === this.filter.get("host")) &&
      (!this.filter.get("job") || incident.jobs.some((job) => String(job.id) === this.filter.get("job")));
    const open = status.incidents.filter(concerns);
    const title = [...this.filter].map(([name, value]) => `${name} ${value}`).join(", ");
    const past = past_incidents(this.history.timeline, new Set(status.incidents.map((incident) => incident.id)));
    replace(
      this.element,
      el(
        "p",
        { class: "summary" },
        title ? [`${title} `, link("#/incidents", "Show all")] : `${counted(open.length, "incident")} open`,
        status.observe_only ? ". restartd only observes: what is listed as next is not done." : "",
      ),
      open.map((incident) => open_incident(incident, planned.get(incident.id), status.time)),
      this.incident || title
        ? [el("h2", {}, "What happened"), timeline(this.history.timeline)]
        : [
            el("h2", {}, "Past incidents"),
            past.length > 0
              ? el(
                  "ul",
                  { class: "past" },
                  past.map((each) =>
                    el(
                      "li",
                      {},
                      el("time", {}, moment(each.first.time)),
                      " ",
                      incident_link(each.id),
                      " ",
                      each.hosts.map((host) => [host_link(host), " "]),
                      each.first.text,
                      el("small", {}, each.last.text),
                    ),
                  ),
                )
              : el("p", { class: "empty" }, "None."),
          ],
    );
  }
}
