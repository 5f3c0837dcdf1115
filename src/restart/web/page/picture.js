// The fabric on a canvas: where everything is comes from /v1/map, what it shows from /v1/status. Nothing is told by
// colour alone: jobs differ in hatch too, states in shape.

const fills = ["#0072B2", "#009E73", "#CC79A7", "#56B4E9", "#B8AA00"]; // of Okabe and Ito, as in railtopo's pictures
const hatches = [
  [[0, 6, 6, 0]],
  [[0, 3, 6, 3]],
  [[0, 0, 6, 6]],
  [[3, 0, 3, 6]],
  [
    [3, 0, 3, 6],
    [0, 3, 6, 3],
  ],
  [
    [0, 0, 6, 6],
    [0, 6, 6, 0],
  ],
  [],
];
const least_label = 34; // width of a cell on the screen, in pixels, from which its name is shown

const themes = {
  light: {
    page: "#ffffff",
    pod: "#f3f4f6",
    unit: "#ffffff",
    line: "#c9ced6",
    cell: "#ffffff",
    edge: "#8b94a3",
    text: "#1b1e23",
    muted: "#5c6470",
    leaf: "#d9dee6",
    spine: "#c3cbd8",
    uplink: "rgba(123,133,150,.35)",
    busy: "#c3c8d1",
  },
  dark: {
    page: "#14171b",
    pod: "#1b2026",
    unit: "#14171b",
    line: "#3a424d",
    cell: "#1f252c",
    edge: "#6c7683",
    text: "#e6e9ed",
    muted: "#a5adb8",
    leaf: "#333c47",
    spine: "#414c5a",
    uplink: "rgba(150,160,175,.3)",
    busy: "#4a535f",
  },
};

function hatch(colour, lines, background) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const draw = tile.getContext("2d");
  draw.fillStyle = colour;
  draw.fillRect(0, 0, 6, 6);
  draw.strokeStyle = background;
  draw.lineWidth = 1;
  draw.globalAlpha = 0.7;
  draw.beginPath();
  for (const [x1, y1, x2, y2] of lines) {
    draw.moveTo(x1, y1);
    draw.lineTo(x2, y2);
  }
  draw.stroke();
  return tile;
}

export class Picture {
  // choose(kind, name): a host or switch was clicked; hover(text, x, y): what is under the pointer, or nothing.
  constructor(canvas, choose, hover) {
    this.canvas = canvas;
    this.choose = choose;
    this.hover = hover;
    this.draw = canvas.getContext("2d");
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.dark.addEventListener("change", () => {
      this.patterns = new Map();
      this.ask();
    });
    this.patterns = new Map();
    this.pointers = new Map();
    this.resized = new ResizeObserver(() => this.resize());
    this.resized.observe(canvas);
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.release(event));
    canvas.addEventListener("pointercancel", (event) => this.pointers.delete(event.pointerId));
    canvas.addEventListener("pointerleave", () => this.hover(null));
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  close() {
    this.resized.disconnect();
  }

  set_map(map) {
    this.map = map;
    // Hosts by place, so that one is found under the pointer without looking at all.
    this.cell = Math.max(16, ...map.hosts.slice(0, 64).map((host) => Math.max(host.box[2], host.box[3])));
    this.places = new Map();
    const put = (thing, kind) => {
      const [x, y, w, h] = thing.box;
      for (let column = Math.floor(x / this.cell); column <= Math.floor((x + w) / this.cell); ++column)
        for (let row = Math.floor(y / this.cell); row <= Math.floor((y + h) / this.cell); ++row) {
          const key = `${column}/${row}`;
          if (!this.places.has(key)) this.places.set(key, []);
          this.places.get(key).push({ kind, thing });
        }
    };
    map.hosts.forEach((host) => put(host, "host"));
    map.switches.forEach((one) => put(one, "switch"));
    this.fit();
  }

  // looks: by host's name {state, job (a number, or none), worst, says}; links: names of switches that are an end of a
  // link with a finding.
  set_looks(looks, bad_switches) {
    this.looks = looks;
    this.bad_switches = bad_switches;
    this.ask();
  }

  set_chosen(name) {
    this.chosen = name;
    this.ask();
  }

  resize() {
    const ratio = devicePixelRatio || 1;
    const { clientWidth, clientHeight } = this.canvas;
    this.canvas.width = Math.round(clientWidth * ratio);
    this.canvas.height = Math.round(clientHeight * ratio);
    this.ratio = ratio;
    if (this.map && !this.touched) this.fit();
    this.ask();
  }

  fit() {
    const { clientWidth, clientHeight } = this.canvas;
    if (!this.map || clientWidth === 0) return;
    this.scale = Math.min(clientWidth / this.map.width, clientHeight / this.map.height) || 1;
    this.x = (clientWidth - this.map.width * this.scale) / 2;
    this.y = (clientHeight - this.map.height * this.scale) / 2;
    this.touched = false;
    this.ask();
  }

  zoom(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    const scale = Math.min(Math.max(this.scale * factor, 0.02), 12);
    this.x = x - ((x - this.x) * scale) / this.scale;
    this.y = y - ((y - this.y) * scale) / this.scale;
    this.scale = scale;
    this.touched = true;
    this.ask();
  }

  // Brings a host to the middle, large enough to read.
  show(name) {
    const host = this.map?.hosts.find((each) => each.name === name);
    if (!host) return;
    const [x, y, w, h] = host.box;
    this.scale = Math.max(this.scale, Math.min(2, 90 / w));
    this.x = this.canvas.clientWidth / 2 - (x + w / 2) * this.scale;
    this.y = this.canvas.clientHeight / 2 - (y + h / 2) * this.scale;
    this.touched = true;
    this.ask();
  }

  under(x, y) {
    const at = [(x - this.x) / this.scale, (y - this.y) / this.scale];
    const near = this.places?.get(`${Math.floor(at[0] / this.cell)}/${Math.floor(at[1] / this.cell)}`) ?? [];
    return near.find(
      ({ thing: { box } }) =>
        at[0] >= box[0] && at[0] <= box[0] + box[2] && at[1] >= box[1] && at[1] <= box[1] + box[3],
    );
  }

  wheel(event) {
    event.preventDefault();
    this.zoom(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0015)), event.offsetX, event.offsetY);
  }

  press(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    this.moved = 0;
  }

  move(event) {
    const before = this.pointers.get(event.pointerId);
    const now = { x: event.offsetX, y: event.offsetY };
    if (!before) {
      const found = this.under(now.x, now.y);
      this.hover(found ? this.describe(found) : null, now.x, now.y);
      return;
    }
    if (this.pointers.size === 2) {
      const [other] = [...this.pointers.entries()].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
      const distance = (one) => Math.hypot(one.x - other.x, one.y - other.y);
      if (distance(before) > 0)
        this.zoom(distance(now) / distance(before), (now.x + other.x) / 2, (now.y + other.y) / 2);
    } else {
      this.x += now.x - before.x;
      this.y += now.y - before.y;
      this.touched = true;
      this.ask();
    }
    this.moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
    this.pointers.set(event.pointerId, now);
  }

  release(event) {
    if (!this.pointers.delete(event.pointerId) || this.moved > 4) return;
    const found = this.under(event.offsetX, event.offsetY);
    if (found) this.choose(found.kind, found.thing.name);
  }

  key(event) {
    const step = 60;
    const keys = {
      "+": () => this.zoom(1.3),
      "=": () => this.zoom(1.3),
      "-": () => this.zoom(1 / 1.3),
      0: () => this.fit(),
      ArrowLeft: () => {
        this.x += step;
      },
      ArrowRight: () => {
        this.x -= step;
      },
      ArrowUp: () => {
        this.y += step;
      },
      ArrowDown: () => {
        this.y -= step;
      },
    };
    if (!(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
    this.touched = event.key !== "0";
    this.ask();
  }

  describe({ kind, thing }) {
    if (kind === "switch")
      return `${thing.name}${this.bad_switches?.has(thing.name) ? ": a link of it has a finding" : ""}`;
    const look = this.looks?.get(thing.name);
    return look ? look.says : `${thing.name}: not known to restartd`;
  }

  // One frame, once the browser is ready for it, however often it is asked for.
  ask() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      if (this.map) this.paint();
    });
  }

  pattern(job, theme) {
    const key = job % (fills.length * hatches.length);
    if (!this.patterns.has(key))
      this.patterns.set(
        key,
        this.draw.createPattern(hatch(fills[key % fills.length], hatches[key % hatches.length], theme.cell), "repeat"),
      );
    return this.patterns.get(key);
  }

  paint() {
    const theme = this.dark.matches ? themes.dark : themes.light;
    const { draw, map, scale } = this;
    draw.setTransform(1, 0, 0, 1, 0, 0);
    draw.fillStyle = theme.page;
    draw.fillRect(0, 0, this.canvas.width, this.canvas.height);
    draw.setTransform(this.ratio * scale, 0, 0, this.ratio * scale, this.ratio * this.x, this.ratio * this.y);
    const left = -this.x / scale,
      top = -this.y / scale;
    const right = left + this.canvas.clientWidth / scale,
      bottom = top + this.canvas.clientHeight / scale;
    this.seen = ([x, y, w, h]) => x < right && x + w > left && y < bottom && y + h > top;
    draw.lineWidth = 1 / scale;
    this.panels(map.pods, theme.pod, theme);
    this.panels(map.units, theme.unit, theme);
    this.uplinks(theme);
    this.switches(theme);
    this.hosts(theme);
    this.titles(theme);
  }

  panels(panels, fill, theme) {
    const { draw } = this;
    for (const { box } of panels) {
      if (!this.seen(box)) continue;
      draw.fillStyle = fill;
      draw.strokeStyle = theme.line;
      draw.fillRect(...box);
      draw.strokeRect(...box);
    }
  }

  uplinks(theme) {
    const { draw, map } = this;
    const middle = (at) => [
      map.switches[at].box[0] + map.switches[at].box[2] / 2,
      map.switches[at].box[1] + map.switches[at].box[3] / 2,
    ];
    draw.strokeStyle = theme.uplink;
    draw.beginPath();
    for (const [one, other] of map.uplinks) {
      draw.moveTo(...middle(one));
      draw.lineTo(...middle(other));
    }
    draw.stroke();
  }

  switches(theme) {
    const { draw, map, scale } = this;
    draw.textAlign = "center";
    draw.textBaseline = "middle";
    for (const { name, label, tier, box } of map.switches) {
      if (!this.seen(box)) continue;
      draw.fillStyle = tier > 0 ? theme.spine : theme.leaf;
      draw.fillRect(...box);
      const bad = this.bad_switches?.has(name);
      draw.strokeStyle = name === this.chosen ? theme.text : bad ? "#D55E00" : theme.edge;
      draw.lineWidth = (name === this.chosen || bad ? 3 : 1) / scale;
      draw.strokeRect(...box);
      draw.lineWidth = 1 / scale;
      if (label && box[3] * scale > 8)
        this.text(label, box[0] + box[2] / 2, box[1] + box[3] / 2, Math.min(11, box[3] - 2), theme.text);
    }
  }

  hosts(theme) {
    const { draw, map, scale } = this;
    for (const host of map.hosts) {
      const { box } = host;
      if (!this.seen(box)) continue;
      const look = this.looks?.get(host.name);
      const state = look?.state ?? "unknown";
      this.cell_of(box, state, look, theme);
      if (look?.worst) this.mark(box, look.worst, theme);
      if (host.name === this.chosen) {
        draw.strokeStyle = theme.text;
        draw.lineWidth = 3 / scale;
        draw.strokeRect(box[0] - 2 / scale, box[1] - 2 / scale, box[2] + 4 / scale, box[3] + 4 / scale);
        draw.lineWidth = 1 / scale;
      }
      if (box[2] * scale > least_label) this.label(host.name, box, theme);
    }
  }

  cell_of(box, state, look, theme) {
    const { draw, scale } = this;
    const [x, y, w, h] = box;
    const held = look?.job !== undefined;
    draw.fillStyle = held
      ? this.pattern(look.job, theme)
      : state === "busy" || state === "mixed"
        ? theme.busy
        : theme.cell;
    draw.fillRect(x, y, w, h);
    draw.strokeStyle = theme.edge;
    if (state === "unknown" || state === "silent") draw.setLineDash([3 / scale, 3 / scale]);
    draw.strokeRect(x, y, w, h);
    draw.setLineDash([]);
    if (state === "drained" || state === "draining") {
      // a bar across
      draw.strokeStyle = "#E69F00";
      draw.lineWidth = Math.max(2, 3 / scale);
      draw.beginPath();
      draw.moveTo(x, y + h);
      draw.lineTo(x + w, y);
      draw.stroke();
    } else if (state === "down" || state === "lost") {
      // a cross
      draw.strokeStyle = "#D55E00";
      draw.lineWidth = Math.max(2, 3 / scale);
      draw.beginPath();
      draw.moveTo(x, y);
      draw.lineTo(x + w, y + h);
      draw.moveTo(x + w, y);
      draw.lineTo(x, y + h);
      draw.stroke();
    }
    draw.lineWidth = 1 / scale;
  }

  // A finding: a triangle for one that avoids the host, a disc for one that moves jobs off it.
  mark([x, y, w], worst, theme) {
    const { draw } = this;
    const size = Math.min(8, w / 2.5);
    draw.fillStyle = worst === "warn" ? "#E69F00" : "#D55E00";
    draw.strokeStyle = theme.text;
    draw.beginPath();
    if (worst === "warn") {
      draw.moveTo(x + w, y + size);
      draw.lineTo(x + w - size, y + size);
      draw.lineTo(x + w - size / 2, y);
      draw.closePath();
    } else {
      draw.arc(x + w - size / 2, y + size / 2, size / 2, 0, 2 * Math.PI);
    }
    draw.fill();
    draw.stroke();
  }

  label(name, [x, y, w, h], theme) {
    const size = Math.min(11, h / 2, (1.7 * w) / Math.max(name.length, 4));
    if (size * this.scale < 6) return;
    const { draw } = this;
    draw.textAlign = "center";
    draw.textBaseline = "middle";
    draw.strokeStyle = theme.cell;
    draw.lineWidth = 3 / this.scale;
    draw.font = `${size}px sans-serif`;
    draw.strokeText(name, x + w / 2, y + h / 2);
    draw.lineWidth = 1 / this.scale;
    this.text(name, x + w / 2, y + h / 2, size, theme.text);
  }

  titles(theme) {
    const { draw, map, scale } = this;
    draw.textAlign = "left";
    draw.textBaseline = "middle";
    for (const { name, title } of map.units)
      if (name && title[3] * scale > 7 && this.seen(title))
        this.text(name, title[0], title[1] + Math.min(title[3], 14) / 2, Math.min(12, title[3]), theme.muted);
  }

  text(text, x, y, size, colour) {
    const { draw } = this;
    draw.font = `${size}px sans-serif`;
    draw.fillStyle = colour;
    draw.fillText(text, x, y);
  }
}
