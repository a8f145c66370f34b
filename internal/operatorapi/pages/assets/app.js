// The script of Wayleave's pages: it sends what a person decides, and shows what changed. Whatever it writes it writes as
// text. The session's second secret stands in this tab's sessionStorage and nowhere else.
(() => {
  "use strict";
  const $ = (q, at = document) => at.querySelector(q);
  const $$ = (q, at = document) => [...at.querySelectorAll(q)];
  const CONFIRM = "wayleave.confirm";
  const make = (tag, text, cls) => {
    const e = document.createElement(tag);
    if (text !== undefined) e.textContent = text;
    if (cls) e.className = cls;
    return e;
  };

  // ---- the second secret: of this tab, or of another tab of ours that has it
  const tabs = "BroadcastChannel" in window ? new BroadcastChannel("wayleave") : null;
  const secret = () => sessionStorage.getItem(CONFIRM);
  if (tabs) {
    tabs.onmessage = (e) => {
      if (e.data?.want === "confirm" && secret()) tabs.postMessage({ confirm: secret() });
      if (typeof e.data?.confirm === "string" && !secret()) sessionStorage.setItem(CONFIRM, e.data.confirm);
      if (e.data?.gone) sessionStorage.removeItem(CONFIRM);
    };
    if (document.body.dataset.live && !secret()) tabs.postMessage({ want: "confirm" });
  }

  // ---- asking the API; where this tab has no second secret, a password brings one and the request is made again
  async function call(method, path, body) {
    try {
      return await once(method, path, body);
    } catch (p) {
      if (p.code !== "confirm_missing" || !await unlock()) throw p;
      return once(method, path, body);
    }
  }
  async function once(method, path, body) {
    const headers = { Accept: "application/json" };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (method !== "GET" && secret()) headers["Wayleave-Confirm"] = secret();
    let answer;
    try {
      answer = await fetch(path, { method, headers, body, cache: "no-store", credentials: "same-origin", redirect: "error" });
    } catch {
      throw { detail: "The server did not answer. Nothing is known to have changed.", code: "unreachable" };
    }
    const text = await answer.text();
    let value = null;
    try { value = text ? JSON.parse(text) : null; } catch { value = { detail: "The answer cannot be read.", code: "unreadable" }; }
    if (!answer.ok) throw value || { detail: "Status " + answer.status, code: String(answer.status) };
    return value;
  }
  function unlock() {
    const d = $("#unlock");
    if (!d) return false;
    const form = $("form", d), error = $(".err", d), b = $("[type=submit]", d);
    return new Promise((done) => {
      let got = false;
      form.onsubmit = async (e) => {
        e.preventDefault();
        error.hidden = true;
        busy(b, true);
        try {
          const session = await once("POST", "/api/sign-in", JSON.stringify(Object.fromEntries(new FormData(form))));
          sessionStorage.setItem(CONFIRM, session.confirm);
          got = true;
          d.close();
        } catch (p) { error.hidden = false; error.textContent = words(p); }
        busy(b, false);
      };
      d.addEventListener("close", () => { form.reset(); error.hidden = true; done(got); }, { once: true });
      d.showModal();
    });
  }
  const words = (p) => {
    let text = p.detail || p.title || p.code || "It did not work.";
    text = text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
    if (p.changed_by) text += " Changed by " + (p.changed_by_name || p.changed_by) + (p.changed_at ? " at " + p.changed_at : "") + ".";
    if (p.request_id) text += " Request " + p.request_id + ".";
    return text;
  };
  const tell = (at, p) => {
    if (!at) return;
    at.hidden = false;
    at.textContent = words(p);
    if (p.code === "invalid_token" || p.code === "confirm_missing") {
      const a = make("a", " Sign in again");
      a.href = "/sign-in?next=" + encodeURIComponent(location.pathname + location.search);
      at.append(a);
    }
  };
  const toast = (text) => {
    const t = $("[data-toast]");
    if (!t) return;
    t.textContent = text;
    t.hidden = false;
    setTimeout(() => { t.hidden = true; }, 2500);
  };
  const go = (to) => { if (to) location.assign(to); else location.reload(); };
  const busy = (b, on) => { b.disabled = on; b.setAttribute("aria-busy", String(on)); };

  // ---- buttons that change something; a destructive one first says what it stops, counted now
  const ask = $("#ask");
  const gone = (d, many) => "Deletes for good " + [many(d.calls, "call", "calls") + " with arguments, results and reasons", many(d.evidence, "record of where a reading came from", "records of where readings came from"),
    many(d.kept_pages, "kept page", "kept pages"), many(d.approvals, "question with its answer", "questions with their answers")].join(", ") +
    (d.uncertain_effects ? ". Of the calls " + many(d.uncertain_effects, "is an effect whose outcome nobody saw", "are effects whose outcome nobody saw") : "") + ".";
  async function consequences(b) {
    const at = $("[data-ask-body]"), error = $("[data-ask-error]"), goOn = $("[data-ask-go]");
    $("[data-ask-title]").textContent = b.dataset.verb + "?";
    goOn.textContent = b.dataset.verb;
    error.hidden = true;
    at.replaceChildren(make("p", "Counting what it stops…", "t2"));
    $$("dialog[open]").forEach((d) => d.close());
    ask.showModal();
    busy(goOn, true);
    let refused = false;
    try {
      const i = await call("GET", b.dataset.impact);
      const many = (n, one, more) => n + " " + (n === 1 ? one : more);
      const stops = [many(i.agents.length, "agent", "agents") + (i.agents.length && i.agents.length < 6 ? " (" + i.agents.join(", ") + ")" : ""),
        many(i.run_count, "open run", "open runs"), many(i.calls_in_flight, "call in flight", "calls in flight")];
      if (i.effects_dispatched) stops.push(many(i.effects_dispatched, "effect already dispatched", "effects already dispatched"));
      if (i.open_approvals) stops.push(many(i.open_approvals, "open question", "open questions"));
      const list = make("ul", undefined, "says");
      i.leaves.forEach((l) => list.append(make("li", l)));
      at.replaceChildren(make("p", i.deletes ? gone(i.deletes, many) : "Concerns " + stops.join(", ") + "."), list, make("p", i.undo || "This cannot be undone.", "t2"));
      if (i.refused) {
        at.prepend(make("p", words({ detail: "not now: " + i.refused }), "err"));
        refused = true;
      }
    } catch (p) {
      at.replaceChildren(make("p", words(p), "err"));
    }
    goOn.disabled = refused;
    goOn.setAttribute("aria-busy", "false");
    return new Promise((done) => {
      const end = (yes) => { goOn.onclick = null; ask.onclose = null; done(yes); };
      goOn.onclick = () => end(true);
      ask.onclose = () => end(false);
    });
  }
  async function act(b) {
    const destructive = Boolean(b.dataset.impact);
    if (destructive && !await consequences(b)) return;
    const [method, path] = b.dataset.act.split(" ");
    const button = destructive ? $("[data-ask-go]") : b;
    busy(button, true);
    try {
      await call(method, path, b.dataset.body);
      if (path === "/api/sign-out") { sessionStorage.removeItem(CONFIRM); tabs?.postMessage({ gone: true }); }
      go(b.dataset.then);
    } catch (p) {
      busy(button, false);
      const near = destructive ? $("[data-ask-error]") : b.closest("section,form,div,li")?.querySelector("[data-act-error]");
      if (near) tell(near, p); else toast(words(p));
      if (p.code === "conflict" && b.dataset.answer) setTimeout(() => go(location.pathname + location.search), 1500);
    }
  }

  // ---- forms that are sent as JSON
  async function submit(form) {
    const [method, path] = form.dataset.json.split(" ");
    const fields = Object.fromEntries(new FormData(form));
    for (const [k, v] of Object.entries(fields)) if (v === "") delete fields[k];
    const b = $("[type=submit]", form), error = $(".err", form);
    if (error) error.hidden = true;
    busy(b, true);
    try {
      const got = await call(method, path, JSON.stringify(fields));
      if ("secretAnswer" in form.dataset) { reveal(got); busy(b, false); return; }
      go(form.dataset.then?.replace("{slug}", encodeURIComponent(got?.slug ?? "")));
    } catch (p) { busy(b, false); tell(error, p); }
  }
  function reveal(got) {
    const d = $("#secret");
    $("[data-secret]", d).textContent = got.secret;
    $("[data-copy-secret]", d).onclick = () => copy(got.secret, "token");
    $("[data-blocks]", d).replaceChildren(...(got.blocks || []).map((b) => {
      const box = make("details", undefined, "block");
      const copyIt = make("button", "Copy", "btn sm");
      copyIt.type = "button";
      copyIt.onclick = () => copy(b.text, b.client);
      const wrap = make("div", undefined, "copyable");
      wrap.append(make("pre", b.text, "code"), copyIt);
      box.append(make("summary", b.client), make("p", b.where, "sm t2"), wrap);
      return box;
    }));
    d.addEventListener("close", () => { $("[data-secret]", d).textContent = ""; $("[data-blocks]", d).replaceChildren(); go(); }, { once: true });
    d.showModal();
  }
  async function copy(text, what) {
    try { await navigator.clipboard.writeText(text); toast("Copied: " + what); } catch { toast("Copying is not allowed here"); }
  }

  // ---- signing in; a link's secret never stays in the address
  function signIn(at) {
    const byPassword = $("[data-password]", at), byLink = $("[data-link]", at);
    const link = location.hash.startsWith("#wl_link_") ? location.hash.slice(1) : "";
    if (location.hash) history.replaceState(null, "", location.pathname + location.search);
    addEventListener("hashchange", () => { if (location.hash.startsWith("#wl_link_")) location.reload(); }); // one that is opened in this tab
    if (link) { byPassword.hidden = true; byLink.hidden = false; $("button", byLink).focus(); }
    const enter = (form, path, body) => form.addEventListener("submit", async (e) => {
      e.preventDefault();
      const b = $("button", form), error = $(".err", form);
      error.hidden = true;
      busy(b, true);
      try {
        const got = await call("POST", path, JSON.stringify(body()));
        sessionStorage.setItem(CONFIRM, got.confirm);
        const name = $("[name=name]", form); // so that what keeps passwords knows whose this one is
        if (!name.value) name.value = got.person.name;
        $("[type=password]", form).value = "";
        location.replace(at.dataset.next || "/");
      } catch (p) { busy(b, false); error.hidden = false; error.textContent = words(p); }
    });
    const value = (form, name) => $("[name=" + name + "]", form).value;
    enter(byPassword, "/api/sign-in", () => ({ name: value(byPassword, "name"), password: value(byPassword, "password") }));
    enter(byLink, "/api/sign-in/link", () => {
      const password = value(byLink, "password");
      return password ? { secret: link, password } : { secret: link };
    });
  }

  // ---- times run on the server's clock
  const skew = document.body.dataset.now ? Date.parse(document.body.dataset.now) - Date.now() : 0;
  let live = true;
  function countdowns() {
    for (const t of $$("[data-until]")) {
      const s = Math.ceil((Date.parse(t.dataset.until) - Date.now() - skew) / 1000);
      if (!live) t.textContent = "time unknown";
      else if (s <= 0) t.textContent = "over";
      else if (s < 60) t.textContent = s + " s left";
      else if (s < 3600) t.textContent = Math.floor(s / 60) + " min " + (s % 60) + " s left";
      else t.textContent = Math.floor(s / 3600) + " h " + Math.floor(s % 3600 / 60) + " min left";
    }
  }

  // ---- what changed: shown at once where nobody is at it, else behind a button
  let pending = 0, loading = false;
  const quiet = () => !$("dialog[open]") && !$("main:hover") && !$("main :focus") && !$("main :checked:not(option)") && getSelection().isCollapsed;
  async function refresh() {
    if (loading) return;
    loading = true;
    try {
      const answer = await fetch(location.href, { cache: "no-store", credentials: "same-origin" });
      if (answer.ok && !answer.redirected) {
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
        for (const q of ["main.page", ".side nav", ".bottomnav"]) {
          const was = $(q), now = $(q, fresh);
          if (was && now) was.replaceWith(document.adoptNode(now));
        }
        pending = 0;
        countdowns();
        since = performance.now();
      }
    } catch { /* the dot says that it is not live */ }
    loading = false;
  }
  function changed() {
    pending++;
    setTimeout(() => {
      if (!pending) return;
      if (quiet()) { refresh(); return; }
      const bar = $("[data-fresh]");
      if (bar) { bar.hidden = false; $("button", bar).textContent = "Show what changed (" + pending + ")"; }
    }, 400);
  }
  function listen() {
    const dot = $("[data-live-dot]");
    dot.hidden = false;
    let wait = 500, stale = 0;
    const open = () => {
      const stream = new EventSource(document.body.dataset.live);
      let first = true;
      stream.onopen = () => {
        wait = 500;
        live = true;
        clearTimeout(stale);
        dot.classList.remove("stale");
        $("span", dot).textContent = "Live";
      };
      stream.addEventListener("ready", () => { if (!first) changed(); first = false; });
      for (const kind of ["reset", "run", "call", "approval", "settings"]) stream.addEventListener(kind, changed);
      stream.onerror = () => {
        dot.classList.add("stale");
        $("span", dot).textContent = "Not live since " + new Date().toLocaleTimeString();
        clearTimeout(stale);
        stale = setTimeout(() => { live = false; }, 30000);
        if (stream.readyState === EventSource.CLOSED) {
          setTimeout(open, wait * (0.5 + Math.random()));
          wait = Math.min(wait * 2, 15000);
        }
      };
      addEventListener("pagehide", () => stream.close(), { once: true });
    };
    open();
  }

  // ---- keys; none stops anything without a dialog
  let chord = 0, since = performance.now();
  function move(step) {
    const links = $$("[data-list] a");
    if (!links.length) return;
    const at = Math.max(links.indexOf(document.activeElement), links.findIndex((a) => a.classList.contains("sel")));
    links[Math.min(Math.max(at + step, 0), links.length - 1)].focus();
  }
  function key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest?.("input,textarea,select,dialog[open]")) return;
    if (chord && performance.now() - chord < 1500) {
      chord = 0;
      const to = $('.side [data-key="' + CSS.escape(e.key) + '"]');
      if (to) { e.preventDefault(); to.click(); }
      return;
    }
    const answer = (what) => {
      const b = $('[data-answer="' + what + '"]');
      if (b && !b.disabled) { e.preventDefault(); b.click(); }
    };
    const q = $("[data-approval]");
    switch (e.key) {
      case "g": chord = performance.now(); return;
      case "j": return move(1);
      case "k": return move(-1);
      case "[": case "]": {
        const links = $$("[data-calls] a"), at = links.findIndex((a) => a.classList.contains("sel"));
        links[at + (e.key === "]" ? 1 : -1)]?.click();
        return;
      }
      case ".": return void $("main button.id")?.click();
      case "?": return void $("#keys")?.showModal();
      case "D": case "d": if (q) answer("deny"); return;
      case "a": if (q && q.dataset.tier !== "sensitive") answer("once"); return;
      // A sensitive question takes the shift key, and a second on the screen, unchanged.
      case "A": if (q && performance.now() - since > 1000) answer("once"); return;
    }
  }

  // ---- the theme is this browser's
  const themes = ["system", "light", "dark"];
  function theme(next) {
    let t = localStorage.getItem("wayleave.theme") || "system";
    if (next) { t = themes[(themes.indexOf(t) + 1) % 3]; localStorage.setItem("wayleave.theme", t); }
    if (t === "system") delete document.documentElement.dataset.theme; else document.documentElement.dataset.theme = t;
    $$("[data-theme-name]").forEach((n) => { n.textContent = t; });
  }

  document.addEventListener("click", (e) => {
    const b = e.target.closest("button,[data-refresh]");
    if (!b) return;
    if (b.dataset.act) act(b);
    else if (b.dataset.copy) copy(b.dataset.copy, b.dataset.copy.length > 60 ? "block" : b.dataset.copy);
    else if (b.dataset.open) $("#" + b.dataset.open)?.showModal();
    else if ("close" in b.dataset) b.closest("dialog").close();
    else if ("themeToggle" in b.dataset) theme(true);
    else if ("refresh" in b.dataset) refresh();
  });
  document.addEventListener("submit", (e) => {
    if (e.target.dataset.json) { e.preventDefault(); submit(e.target); }
  });
  document.addEventListener("input", (e) => {
    const form = e.target.closest("form[data-json]");
    if (form && $("[name=verdict]", form)) $("[type=submit]", form).disabled = !form.checkValidity();
  });
  document.addEventListener("keydown", key);

  theme(false);
  if ($("[data-sign-in]")) signIn($("[data-sign-in]"));
  if ($("[data-again]")) location.replace(location.href);
  countdowns();
  setInterval(countdowns, 1000);
  if (document.body.dataset.live && "EventSource" in window) listen();
})();
