// What was learned: how often hosts fail, how long they are away, and what intervals follow from it.

import { el, facts, replace, table } from "./dom.js";
import { host_link, job_link } from "./hosts.js";
import { counted, moment, number, percent, span } from "./text.js";

function times(seen) {
  return seen.count > 0
    ? `${span(seen.mean_s)} on average (median ${span(seen.median_s)}, nine of ten below ${span(seen.p90_s)}; ${seen.count} seen)`
    : "none seen yet";
}

export class RatesView {
  constructor(app) {
    this.app = app;
    this.hosts_by = { by: 1, down: true, changed: () => this.update() };
    this.jobs_by = { by: 0, down: false, changed: () => this.update() };
    this.element = el("section", { class: "rates" });
  }

  open() {
    this.ask();
  }

  async ask() {
    const [rates, top] = [await this.app.get("/v1/rates"), await this.app.get("/v1/top")];
    if (rates && top) [this.rates, this.top] = [rates, top];
    this.update();
  }

  update() {
    if (!this.rates) return;
    const { failures, repairs, detections, restarts, spares, jobs } = this.rates;
    const lost = new Map(this.top.jobs.map((job) => [String(job.id), job]));
    replace(
      this.element,
      el("h2", {}, "Hosts"),
      facts([
        [
          "A host fails",
          `once in ${span(failures.mtbf_s)} (80 % of the belief: ${span(failures.low_s)} to ${span(failures.high_s)})`,
        ],
        [
          "Seen",
          `${counted(failures.faults, "fault")} of single hosts in ${number(failures.host_hours)} host-hours, ${failures.shared_faults} of what hosts share`,
        ],
        [
          "Back in use after",
          `${span(repairs.mean_s)}${repairs.ongoing > 0 ? `; ${counted(repairs.ongoing, "repair")} under way` : ""}`,
        ],
        ["Until the decision", times(detections)],
        ["Until a job runs again", times(restarts)],
        [
          "Kept free for restarts",
          spares &&
            `${spares.floor} of ${counted(spares.hosts, "host")}${spares.learned ? "" : ", by the configuration"}`,
        ],
      ]),
      el("h2", {}, "Hosts that failed"),
      table(
        [
          { head: "Host", value: (host) => host.name, cell: (host) => host_link(host.name) },
          { head: "Score", value: (host) => host.score, number: true, cell: (host) => number(host.score, 2) },
          {
            head: "Faults",
            value: (host) => host.faults.length,
            number: true,
            cell: (host) => String(host.faults.length),
          },
          {
            head: "In use",
            value: (host) => String(host.in_use),
            cell: (host) => (host.in_use ? "yes" : host.repair ? `in repair: ${host.repair.stage}` : "no"),
          },
          {
            head: "Last",
            value: (host) => host.faults.at(-1)?.time ?? 0,
            cell: (host) =>
              host.faults.length > 0 ? `${moment(host.faults.at(-1).time)}: ${host.faults.at(-1).what}` : "",
          },
        ],
        this.top.hosts,
        this.hosts_by,
        "No host has failed lately.",
      ),
      el("h2", {}, "Checkpoint intervals"),
      table(
        [
          { head: "Job", value: (job) => job.name, cell: (job) => job_link(job.id, job.name) },
          { head: "Hosts", value: (job) => job.hosts, number: true, cell: (job) => String(job.hosts) },
          { head: "Fails once in", value: (job) => job.mtbf_s, number: true, cell: (job) => span(job.mtbf_s) },
          { head: "Costs", value: (job) => job.cost_s, number: true, cell: (job) => span(job.cost_s) },
          {
            head: "Interval",
            value: (job) => job.interval_s,
            number: true,
            cell: (job) => `${span(job.interval_s)}${job.bound ? ` (${job.bound})` : ""}`,
          },
          {
            head: "Efficiency at best",
            value: (job) => job.exact.efficiency,
            number: true,
            cell: (job) => percent(job.exact.efficiency),
          },
          {
            head: "By Young",
            value: (job) => job.young.efficiency,
            number: true,
            cell: (job) => percent(job.young.efficiency),
          },
          {
            head: "Lost (node-hours)",
            value: (job) => lost.get(String(job.id))?.host_hours ?? 0,
            number: true,
            cell: (job) => number(lost.get(String(job.id))?.host_hours ?? 0, 2),
          },
        ],
        jobs,
        this.jobs_by,
        "No job's checkpoints have shown their cost yet.",
      ),
    );
  }
}
