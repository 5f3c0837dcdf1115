// The page: asks restartd how things are, and gives the answer to the view that the address names.
//
// It only reads, by the same requests as railctl(1). One request is on its way at a time, the next some seconds after the
// answer; none while the page is not seen.

import { el, replace } from "./dom.js";
import { FabricView, jobs_by_host } from "./fabric.js";
import { host_detail } from "./hosts.js";
import { IncidentsView } from "./incidents.js";
import { JobsView } from "./jobs.js";
import { RatesView } from "./rates.js";
import { moment, span } from "./text.js";

const pause = (status) => (status && status.hosts.length > 1024 ? 5000 : 2000); // milliseconds

class App {
  constructor() {
    this.views = {
      fabric: new FabricView(this),
      jobs: new JobsView(this),
      incidents: new IncidentsView(this),
      rates: new RatesView(this),
    };
    this.main = document.getElementById("view");
    this.detail = document.getElementById("detail");
    addEventListener("hashchange", () => this.route());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.look();
    });
    document.getElementById("find").addEventListener("submit", (event) => {
      event.preventDefault();
      this.find();
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "/" && document.activeElement?.tagName !== "INPUT") {
        event.preventDefault();
        document.getElementById("find-text").focus();
      } else if (event.key === "Escape" && !this.detail.hidden) {
        location.hash = `#/${this.name}`;
      }
    });
  }

  // The answer, or null: then the reason is shown.
  async get(path) {
    try {
      const response = await fetch(path, { headers: { Accept: "application/json" } });
      if (response.ok) {
        this.complain("");
        return await response.json();
      }
      const refusal = await response.json().catch(() => null);
      this.complain(refusal?.error?.text ?? `restartd answers ${response.status}`, response.status);
    } catch {
      this.complain("restartd does not answer");
    }
    return null;
  }

  complain(text, code) {
    const place = document.getElementById("trouble");
    place.hidden = !text;
    const since = this.status ? ` What is shown is of ${moment(this.status.time)}.` : "";
    const way_out =
      code === 401
        ? " This page shows what may be read without a credential from where the browser runs: open it on restartd's own host, or set [restartd] open_reading."
        : "";
    place.textContent = text ? `${text}.${way_out}${since}` : "";
  }

  async start() {
    this.route();
    const map = await fetch("/v1/map")
      .then((response) => (response.ok ? response.json() : null))
      .catch(() => null);
    this.views.fabric.set_map(map);
    await this.look();
  }

  async look() {
    clearTimeout(this.next);
    if (this.looking || document.hidden) return;
    this.looking = true;
    const status = await this.get("/v1/status");
    this.looking = false;
    if (status) {
      this.status = status;
      this.show_modes();
      this.view.update();
      this.show_detail(this.story === null);
    }
    this.next = setTimeout(() => this.look(), pause(this.status));
  }

  route() {
    const [path, query] = location.hash.replace(/^#\//, "").split("?");
    const [name, ...parts] = path.split("/").map(decodeURIComponent);
    this.name = name in this.views ? name : "fabric";
    this.parts = parts;
    this.view = this.views[this.name];
    for (const anchor of document.querySelectorAll("nav a")) {
      if (anchor.getAttribute("href") === `#/${this.name}`) anchor.setAttribute("aria-current", "page");
      else anchor.removeAttribute("aria-current");
    }
    if (this.main.firstChild !== this.view.element) replace(this.main, this.view.element);
    document.title = `${this.name[0].toUpperCase()}${this.name.slice(1)} – Railyard`;
    this.view.open(parts, new URLSearchParams(query));
    this.view.update();
    this.story = null;
    this.show_detail(true);
  }

  // The panel at the side, about the host or job that the address names.
  async show_detail(ask) {
    const host = this.name === "fabric" && this.parts[0] === "host" ? this.parts[1] : null;
    const one = this.name === "fabric" && this.parts[0] === "switch" ? this.parts[1] : null;
    const job = this.name === "jobs" ? this.parts[0] : null;
    this.detail.hidden = !host && !job && !one;
    if (this.detail.hidden || !this.status) return;
    const close = el("a", { class: "close", href: `#/${this.name}`, "aria-label": "Close" }, "×");
    const now = this.status.time;
    if (host) {
      const row = this.status.hosts.find((each) => each.name === host);
      replace(
        this.detail,
        close,
        row
          ? host_detail(
              row,
              jobs_by_host(this.status).get(host) ?? [],
              now,
              el("p", {}, el("a", { href: `#/incidents?host=${encodeURIComponent(host)}` }, "What happened to it")),
            )
          : el("p", {}, `restartd does not know ${host}.`),
      );
    } else if (one) {
      const links = (this.status.links ?? []).filter(({ finding }) => finding.a === one || finding.b === one);
      replace(
        this.detail,
        close,
        el("h2", {}, one),
        links.length > 0
          ? el(
              "ul",
              { class: "findings" },
              links.map(({ finding }) =>
                el(
                  "li",
                  {},
                  `${finding.a} ${finding.a_port} – ${finding.b ?? ""} ${finding.b_port ?? ""}: ${finding.rule}`,
                  el("small", {}, finding.evidence),
                ),
              ),
            )
          : el("p", { class: "empty" }, "No link of it has a finding."),
      );
    } else {
      const row = this.status.jobs.find((each) => String(each.id) === job);
      replace(this.detail, close, JobsView.detail(row, this.story, now));
      if (!ask || this.asking === job) return;
      this.asking = job;
      const story = await this.get(`/v1/explain?job=${encodeURIComponent(job)}`);
      this.asking = null;
      if (!story || this.name !== "jobs" || this.parts[0] !== job) return;
      this.story = story;
      replace(this.detail, close, JobsView.detail(row, story, now));
    }
  }

  show_modes() {
    const { status } = this;
    const chips = [];
    const add = (text, style, title) => chips.push(el("span", { class: `chip ${style}`, title }, text));
    if (status.observe_only) add("observing only", "warn", "restartd records what it would do, and does nothing");
    else add("acting", "good", "restartd drains and requeues");
    for (const each of status.modes.pauses)
      add(`paused by ${each.user}`, "warn", `${each.reason}; until ${moment(each.until)}`);
    for (const each of status.modes.maintenance) add("maintenance", "warn", each.by);
    for (const bound of status.modes.bounds) add(`bound: ${bound.key}`, "warn", bound.why);
    if (!status.resource_manager.answers)
      add(
        "the resource manager does not answer",
        "bad",
        status.resource_manager.read
          ? `last read ${span(status.time - status.resource_manager.read)} ago`
          : "never read",
      );
    if (status.journal.error) add("the journal cannot be written", "bad", status.journal.error);
    if (status.fabric.error) add("fabric file", "bad", status.fabric.error);
    for (const phrase of status.not_shown)
      add(`${phrase} not shown`, "", "PrivateData hides it from whoever asks without a credential");
    replace(document.getElementById("modes"), chips);
  }

  // A name that was typed: a host, a job by number or name, an incident.
  find() {
    const text = document.getElementById("find-text").value.trim();
    if (!text || !this.status) return;
    const job = this.status.jobs.find((each) => each.name === text || String(each.id) === text);
    const host =
      this.status.hosts.find((each) => each.name === text) ??
      this.status.hosts.find((each) => each.name.startsWith(text));
    if (/^i-\d+$/.test(text)) location.hash = `#/incidents/${text}`;
    else if (job) location.hash = `#/jobs/${encodeURIComponent(job.id)}`;
    else if (host) location.hash = `#/fabric/host/${encodeURIComponent(host.name)}`;
    else this.complain(`There is no host, job or incident ${text}`);
  }
}

new App().start();
