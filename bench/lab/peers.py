"""The configurations of the peers: each serves the same small answer and the same files on every wire that it has.

{h1}, {h1_tls}, {h2c} and {h2} are ports, {dir} is a folder with server.crt, server.key, www/index.txt and www/static/.
"""

BODY = "Hello, World!"
# Under www/static, without anything that compression could win: sizes are what is compared.
FILES = {"16k.bin": 16384, "100k.bin": 102400}

NGINX = """daemon off; master_process off; worker_processes 1; pid {dir}/pid; error_log {dir}/error;
events { worker_connections 19900; }
http {
  access_log off; keepalive_requests 1000000000; keepalive_timeout 600s; client_body_temp_path {dir}/body;
  proxy_temp_path {dir}/proxy; fastcgi_temp_path {dir}/fastcgi; uwsgi_temp_path {dir}/uwsgi; scgi_temp_path {dir}/scgi;
  sendfile on; tcp_nopush on; open_file_cache max=1000 inactive=60s; ssl_protocols TLSv1.3;
  ssl_certificate {dir}/server.crt; ssl_certificate_key {dir}/server.key;
  server {
    listen 127.0.0.1:{h1} backlog=4096; listen 127.0.0.1:{h1_tls} ssl backlog=4096;
    listen 127.0.0.1:{h2c} http2 backlog=4096; listen 127.0.0.1:{h2} ssl http2 backlog=4096;
    http2_max_concurrent_streams 256; http2_max_requests 1000000000;
    location / { default_type text/plain; return 200 'Hello, World!'; }
    location /static/ { root {dir}/www; }
    location /json/ { root {dir}/www; default_type application/json; }
  }
}
"""
H2O = """num-threads: 1
listen: { host: 127.0.0.1, port: {h1} }
listen: &tls { host: 127.0.0.1, port: {h2}, ssl: { certificate-file: {dir}/server.crt, key-file: {dir}/server.key } }
http1-request-timeout: 600
http2-idle-timeout: 600
hosts: { default: { paths: { /: { file.dir: {dir}/www, file.index: [index.txt] } } } }
"""
HAPROXY = """global
  nbthread 1
  maxconn 9000
defaults
  mode http
  timeout client 600s
  timeout connect 5s
  timeout server 600s
frontend hello
  bind 127.0.0.1:{h1} backlog 4096
  bind 127.0.0.1:{h1_tls} ssl crt {dir}/both.pem alpn http/1.1 backlog 4096
  bind 127.0.0.1:{h2c} proto h2 backlog 4096
  bind 127.0.0.1:{h2} ssl crt {dir}/both.pem alpn h2 backlog 4096
  http-request return status 200 content-type text/plain string "Hello, World!"
"""
NODE = """const fs = require('fs');
const answer = (request, response) => {
  response.writeHead(200, {'Content-Type': 'text/plain', 'Content-Length': 13}); response.end('Hello, World!');
};
const keys = { key: fs.readFileSync('{dir}/server.key'), cert: fs.readFileSync('{dir}/server.crt') };
require('http').createServer(answer).listen({h1}, '127.0.0.1', 4096);
require('https').createServer(keys, answer).listen({h1_tls}, '127.0.0.1', 4096);
require('http2').createServer(answer).listen({h2c}, '127.0.0.1', 4096);
require('http2').createSecureServer(keys, answer).listen({h2}, '127.0.0.1', 4096);
"""
BUN = """const items = JSON.parse(require('fs').readFileSync('{dir}/www/dataset.json'));
const plain = { headers: { 'Content-Type': 'text/plain' } };
const common = { hostname: '127.0.0.1', idleTimeout: 0, fetch(request, server) {
  const path = new URL(request.url).pathname;
  if (path === '/ws') return server.upgrade(request) ? undefined : new Response('', { status: 400 });
  if (path.startsWith('/static/')) return new Response(Bun.file('{dir}/www' + path));
  if (path.startsWith('/json/')) {
    const m = 6, count = 50;
    return Response.json({ items: items.slice(0, count).map(item => ({ ...item, total: item.price * item.quantity * m })), count });
  }
  return new Response('Hello, World!', plain);
}, websocket: { message(socket, message) { socket.send(message); } } };
Bun.serve({ ...common, port: {h1} });
Bun.serve({ ...common, port: {h1_tls}, tls: { key: Bun.file('{dir}/server.key'), cert: Bun.file('{dir}/server.crt') } });
"""
CADDY = """{
  admin off
  auto_https off
  default_sni localhost
  servers {
    protocols h1 h2 h2c
  }
}
http://127.0.0.1:{h1} {
  root * {dir}/www
  file_server /static/*
  respond "Hello, World!"
}
https://localhost:{h2} {
  bind 127.0.0.1
  tls {dir}/server.crt {dir}/server.key
  root * {dir}/www
  file_server /static/*
  respond "Hello, World!"
}
"""
