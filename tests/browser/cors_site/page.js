// Asks the other origin for what it may and for what it may not have, and navigates to the report.
const [api, report] = location.hash.slice(1).split(",");
const attempt = async (path, options) => {
  try {
    const reply = await fetch(api + path, options);
    return [reply.status, await reply.text(), reply.headers.get("X-Shown")];
  } catch (error) {
    return error.name;
  }
};
const put = (headers) => ({ method: "PUT", headers });
const found = {
  title: document.title,
  put: await attempt("/notes", put({ "X-Own": "mine" })),
  header: await attempt("/notes", put({ "X-Own": "mine", "X-Other": "1" })),
  error: await attempt("/fails"),
  cookie: [await attempt("/cookie", { credentials: "include" }), await attempt("/cookie", { credentials: "include" }),
    await attempt("/cookie")],
};
location = report + "/?" + btoa(JSON.stringify(found));
