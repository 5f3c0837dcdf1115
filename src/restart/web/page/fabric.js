// The view of the fabric: the picture, or the same as a table.

import { el, link, replace, table } from "./dom.js";
import { host_link, job_link, severity_mark, state_of, states, worst_of } from "./hosts.js";
import { Picture } from "./picture.js";
import { counted, span } from "./text.js";

const order = Object.keys(states);

// By host's name: jobs of /v1/status that hold it.
export function jobs_by_host(status) {
  const by_host = new Map();
  for (const job of status.jobs)
    if (job.state !== "pending" && job.state !== "ended")
      for (const node of job.nodes) {
        if (!by_host.has(node)) by_host.set(node, []);
        by_host.get(node).push(job);
      }
  return by_host;
}

// What the picture shows of each host. A job keeps its fill as long as it is there.
function looks_of(status, fills) {
  const by_host = jobs_by_host(status);
  const looks = new Map();
  for (const host of status.hosts) {
    const jobs = by_host.get(host.name) ?? [];
    const state = state_of(host, jobs.length > 0);
    const worst = worst_of(host);
    const says = [
      host.name,
      states[state],
      ...jobs.map((job) => `job ${job.name || job.id}`),
      ...(worst ? [`${counted(host.findings.length, "finding")}, ${worst}`] : []),
    ];
    looks.set(host.name, {
      state,
      worst,
      job: jobs.length > 0 ? fills.of(jobs[0].id) : undefined,
      says: says.join(", "),
    });
  }
  return looks;
}

class Fills {
  constructor() {
    this.given = new Map();
    this.next = 0;
  }
  of(id) {
    if (!this.given.has(id)) this.given.set(id, this.next++);
    return this.given.get(id);
  }
}

export class FabricView {
  constructor(app) {
    this.app = app;
    this.fills = new Fills();
    this.sorting = { by: 2, down: true, changed: () => this.update() };
    this.canvas = el("canvas", {
      tabindex: "0",
      role: "img",
      "aria-label": "Picture of the fabric: arrows move it, + and - zoom, 0 shows all; the table has the same",
    });
    this.tip = el("div", { class: "tip", hidden: true });
    this.summary = el("p", { class: "summary" });
    this.rows = el("div", { class: "rows" });
    this.area = el("div", { class: "picture" }, this.canvas, this.tip);
    this.element = el("section", { class: "fabric" }, this.summary, this.area, this.rows);
    this.picture = new Picture(
      this.canvas,
      (kind, name) => {
        location.hash = `#/fabric/${kind}/${encodeURIComponent(name)}`;
      },
      (text, x, y) => this.show_tip(text, x, y),
    );
  }

  show_tip(text, x, y) {
    this.tip.hidden = !text;
    if (!text) return;
    this.tip.textContent = text;
    this.tip.style.left = `${Math.min(x + 14, this.canvas.clientWidth - this.tip.offsetWidth - 4)}px`;
    this.tip.style.top = `${y + 14}px`;
  }

  set_map(map) {
    this.has_map = Boolean(map);
    if (map) this.picture.set_map(map);
  }

  // parts: what follows "fabric" in the address.
  open(parts, query) {
    this.as_table = query.get("as") === "table";
    this.only = query.get("state");
    const [kind, name] = parts;
    if (name && name !== this.chosen && kind === "host") this.picture.show(name);
    this.chosen = name;
    this.picture.set_chosen(name);
  }

  update() {
    const { status } = this.app;
    if (!status) return;
    const looks = looks_of(status, this.fills);
    this.picture.set_looks(looks, new Set((status.links ?? []).flatMap(({ finding }) => [finding.a, finding.b])));
    this.summarize(looks);
    const show_table = this.as_table || !this.has_map;
    this.area.hidden = show_table;
    this.rows.hidden = !show_table;
    if (show_table) this.show_rows(looks);
  }

  summarize(looks) {
    const counts = {};
    for (const look of looks.values()) counts[look.state] = (counts[look.state] ?? 0) + 1;
    const words = order
      .filter((state) => counts[state])
      .map((state) =>
        el(
          "a",
          {
            class: `state ${state}`,
            href: `#/fabric?as=table&state=${state}`,
            "aria-current": this.only === state ? "true" : null,
          },
          `${counts[state]} ${states[state]}`,
        ),
      );
    const found = [...looks.values()].filter((look) => look.worst).length;
    replace(
      this.summary,
      `${counted(looks.size, "host")}: `,
      words.map((word, at) => [at > 0 ? " " : "", word]),
      found > 0 ? ` ${found} with findings.` : "",
      " ",
      this.has_map
        ? link(
            this.as_table ? "#/fabric" : "#/fabric?as=table",
            this.as_table ? "Show as a picture" : "Show as a table",
          )
        : "There is no fabric file: railtopo discover makes one.",
    );
  }

  show_rows(looks) {
    const { status } = this.app;
    const by_host = jobs_by_host(status);
    const rows = status.hosts.filter((host) => !this.only || looks.get(host.name).state === this.only);
    const rank = (host) => order.indexOf(looks.get(host.name).state) + (looks.get(host.name).worst ? 10 : 0);
    replace(
      this.rows,
      table(
        [
          { head: "Host", value: (host) => host.name, cell: (host) => host_link(host.name) },
          { head: "Unit", value: (host) => host.unit, cell: (host) => host.unit },
          {
            head: "State",
            value: rank,
            cell: (host) =>
              el("span", { class: `state ${looks.get(host.name).state}` }, states[looks.get(host.name).state]),
          },
          {
            head: "Findings",
            value: (host) => (host.findings ?? []).length,
            number: true,
            cell: (host) =>
              looks.get(host.name).worst ? [severity_mark(looks.get(host.name).worst), ` ${host.findings.length}`] : "",
          },
          {
            head: "Jobs",
            value: (host) => (by_host.get(host.name) ?? []).map((job) => job.name).join(),
            cell: (host) =>
              (by_host.get(host.name) ?? []).map((job, at) => [at > 0 ? ", " : "", job_link(job.id, job.name)]),
          },
          {
            head: "Report",
            value: (host) => host.agent?.last_report ?? 0,
            number: true,
            cell: (host) => (host.agent?.last_report ? span(status.time - host.agent.last_report) : "never"),
          },
          { head: "Reason", value: (host) => host.reason, cell: (host) => host.reason },
        ],
        rows,
        this.sorting,
        "No host is in this state.",
      ),
    );
  }
}
