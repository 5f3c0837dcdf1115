// Jobs: where they are, how old their checkpoints are beside the interval, what a fault would cost now.

import { el, facts, link, replace, table } from "./dom.js";
import { host_link, incident_link, job_link } from "./hosts.js";
import { timeline } from "./incidents.js";
import { counted, fold, moment, number, percent, span } from "./text.js";

// Seconds of work that a fault now would lose: since the last checkpoint of this start, or since its start.
export function at_risk(job, now) {
  if (job.state !== "running") return 0;
  const since = Math.max(job.start || 0, job.commit ? job.commit.committed - (job.commit.safe_s ?? 0) : 0);
  return since > 0 ? Math.max(0, now - since) : 0;
}

function units_of(job, unit_of) {
  return [...new Set(job.nodes.map((node) => unit_of.get(node)).filter((unit) => unit))];
}

// How much of its interval has passed since the last checkpoint.
function age_bar(job, now) {
  const age = at_risk(job, now);
  if (!job.interval_s || !job.commit) return null;
  const share = Math.min(2, age / job.interval_s);
  return el("meter", {
    min: "0",
    max: "2",
    high: "1.2",
    optimum: "0",
    value: String(share),
    title: `${span(age)} of ${span(job.interval_s)}`,
  });
}

export class JobsView {
  constructor(app) {
    this.app = app;
    this.sorting = { by: 0, down: true, changed: () => this.update() };
    this.element = el("section", { class: "jobs" });
  }

  open(parts, query) {
    this.only = query.get("state");
  }

  update() {
    const { status } = this.app;
    if (!status) return;
    const unit_of = new Map(status.hosts.map((host) => [host.name, host.unit]));
    const now = status.time;
    const held = (job) => ((job.nodes.length || job.node_count) * at_risk(job, now)) / 3600;
    const counts = {};
    for (const job of status.jobs) counts[job.state] = (counts[job.state] ?? 0) + 1;
    const rows = status.jobs.filter((job) => !this.only || job.state === this.only);
    const filters = Object.entries(counts).map(([state, count]) => [
      " ",
      el(
        "a",
        {
          href: this.only === state ? "#/jobs" : `#/jobs?state=${encodeURIComponent(state)}`,
          "aria-current": this.only === state ? "true" : null,
        },
        `${count} ${state}`,
      ),
    ]);
    replace(
      this.element,
      el("p", { class: "summary" }, `${counted(status.jobs.length, "job")}:`, filters),
      table(
        [
          { head: "Job", value: (job) => job.name || String(job.id), cell: (job) => job_link(job.id, job.name) },
          {
            head: "State",
            value: (job) => job.state,
            cell: (job) => (job.state === "pending" && job.why_pending ? `pending (${job.why_pending})` : job.state),
          },
          { head: "Hosts", value: (job) => job.node_count, number: true, cell: (job) => String(job.node_count) },
          {
            head: "Where",
            value: (job) => fold(job.nodes),
            cell: (job) =>
              el(
                "span",
                { class: "where" },
                fold(job.nodes),
                job.nodes.length > 0
                  ? el(
                      "small",
                      {},
                      units_of(job, unit_of).length > 0 ? `in ${counted(units_of(job, unit_of).length, "unit")}` : "",
                    )
                  : null,
              ),
          },
          {
            head: "Checkpoint",
            value: (job) => (job.commit ? now - job.commit.committed : Infinity),
            number: true,
            cell: (job) =>
              job.commit
                ? [`${span(now - job.commit.committed)} ago `, age_bar(job, now)]
                : job.state === "running"
                  ? "none known"
                  : "",
          },
          {
            head: "Interval",
            value: (job) => job.interval_s,
            number: true,
            cell: (job) => span(job.interval_s || NaN),
          },
          {
            head: "At risk (node-hours)",
            value: held,
            number: true,
            cell: (job) => (job.state === "running" ? number(held(job), 2) : ""),
          },
          { head: "Restarts", value: (job) => job.epoch, number: true, cell: (job) => String(job.epoch) },
          { head: "Restart", value: (job) => job.restart ?? "", cell: (job) => job.restart ?? "" },
        ],
        rows,
        this.sorting,
        "No job is in the queue.",
      ),
    );
  }

  // The panel about a job: `story` is the answer of /v1/explain.
  static detail(job, story, now) {
    if (!job)
      return [
        el("h2", {}, `Job ${story?.ended?.name ?? ""}`),
        ended_facts(story?.ended),
        timeline(story?.timeline ?? []),
      ];
    const placement = story?.placement ?? {};
    const interval = story?.interval;
    return [
      el("h2", {}, `Job ${job.name || job.id} `, el("span", { class: "state" }, job.state)),
      facts([
        ["User", `uid ${job.uid}`],
        [
          "Hosts",
          job.nodes.length > 0 ? fold(job.nodes) : job.state === "pending" ? `${job.node_count}, none yet` : "",
        ],
        ["Waits", job.why_pending],
        ["Placement", placement.sentence],
        ["Why", (placement.notes ?? []).map((note) => el("span", { class: "note" }, note))],
        ["Expected start", placement.expected_start && moment(placement.expected_start)],
        ["Started", moment(job.start)],
        [
          "Last checkpoint",
          job.commit
            ? `step ${job.commit.step}, ${moment(job.commit.committed)} (${span(now - job.commit.committed)} ago)`
            : "none known",
        ],
        ["Directory", job.ckpt_dir],
        ["A checkpoint costs", job.cost_s > 0 && span(job.cost_s)],
        [
          "Interval",
          job.interval_s > 0 && `${span(job.interval_s)}${interval?.bound ? ` (held by ${interval.bound})` : ""}`,
        ],
        [
          "Efficiency",
          interval &&
            `${percent(interval.exact.efficiency)} at best (${span(interval.exact.interval_s)}); Young's formula ${percent(interval.young.efficiency)}`,
        ],
        [
          "Work at risk",
          job.state === "running" && `${number((job.node_count * at_risk(job, now)) / 3600, 2)} node-hours`,
        ],
        ["At the next fault", job.state === "running" && what_happens(job)],
        ["Restarts", `${job.epoch}${job.requeues ? `, ${job.requeues} by restartd` : ""}`],
        ["Kept off", fold(job.excluded ?? [])],
        ["Pace", job.pace?.suspect && `held back by ${job.pace.suspect}: ${(job.pace.evidence ?? []).join("; ")}`],
      ]),
      job.nodes.length > 0 && job.nodes.length <= 64
        ? el(
            "p",
            { class: "hosts" },
            job.nodes.map((node, at) => [at > 0 ? " " : "", host_link(node)]),
          )
        : null,
      el("h3", {}, "Incidents"),
      (story?.incidents ?? []).length > 0
        ? el(
            "ul",
            {},
            story.incidents.map((incident) => el("li", {}, incident_link(incident.id), `: ${incident.what}`)),
          )
        : el("p", { class: "empty" }, "None is open."),
      el("h3", {}, "History"),
      timeline(story?.timeline ?? []),
      el("p", {}, link(`#/incidents?job=${encodeURIComponent(job.id)}`, "All of its history")),
    ];
  }
}

function ended_facts(ended) {
  return ended
    ? facts([
        ["Ended", `${moment(ended.end)}, ${ended.how ?? ""}`],
        ["Started", moment(ended.start)],
        ["User", `uid ${ended.uid}`],
        ["Hosts", fold(ended.nodes ?? [])],
      ])
    : el("p", { class: "empty" }, "Nothing is known of it.");
}

function what_happens(job) {
  if (job.interactive) return "it ends: an interactive allocation cannot be requeued";
  if (job.restart === "auto")
    return job.commit
      ? `it is requeued and goes on from step ${job.commit.step}`
      : "it is requeued, and begins from what it finds";
  return "it is left to the resource manager: --restart=auto was not given";
}
