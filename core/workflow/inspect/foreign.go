package inspect

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"hyperscale/core/workflow/language"
)

// The tables below translate what users of k6, Locust, Gatling, Python and JavaScript write. A
// remedy names words of the language in backquotes only where it quotes code; a test looks them
// up.

// names are free names.
func names() map[string]string {
	return map[string]string{
		"sleep":         `write vu.sleep("1s") in a function, or think = "1s" in workflow(...)`,
		"open":          `write file("name"), or feed.csv("name") for rows`,
		"print":         `write vu.log(text) in a function`,
		"println":       `write vu.log(text) in a function`,
		"console":       `write vu.log(text) in a function`,
		"logging":       `write vu.log(text) in a function`,
		"logger":        `write vu.log(text) in a function`,
		"random":        `write vu.random.int(low, high) or vu.random.choice(list) in a function`,
		"randint":       `write vu.random.int(low, high) in a function`,
		"Math":          `write math.floor(x), or vu.random.int(low, high) for random numbers`,
		"JSON":          `write json.decode(text), json.encode(value), or response.json()`,
		"os":            `write param("name", default = ...), and set it with --set name=value`,
		"environ":       `write param("name", default = ...), and set it with --set name=value`,
		"getenv":        `write param("name", default = ...), and set it with --set name=value`,
		"process":       `write param("name", default = ...), and set it with --set name=value`,
		"__ENV":         `write param("name", default = ...), and set it with --set name=value`,
		"__VU":          `write vu.id in a function that takes vu`,
		"__ITER":        `write vu.iteration in a function that takes vu`,
		"exec":          `write vu.id and vu.iteration in a function that takes vu`,
		"self":          `there are no classes: write def visit(vu), and vu.http.get(url) in it`,
		"client":        `write vu.http.get(url) in a function that takes vu`,
		"requests":      `write vu.http.get(url) in a function that takes vu`,
		"session":       `write vu.http.get(url) in a function that takes vu: a virtual user keeps its cookies`,
		"axios":         `write vu.http.get(url) in a function that takes vu`,
		"fetch":         `write vu.http.get(url) in a function that takes vu`,
		"group":         `write one step for each group: step("name", function)`,
		"Counter":       `write metric("name", kind = "counter", value = function)`,
		"Trend":         `write metric("name", kind = "distribution", value = function)`,
		"Rate":          `write metric("name", kind = "rate", value = function)`,
		"Gauge":         `write metric("name", kind = "distribution", value = function)`,
		"SharedArray":   `write feed.csv("name"), feed.json("name") or feed.list(rows)`,
		"csv":           `write feed.csv("name"), and feed = ... in workflow(...)`,
		"scenario":      `write workflow(name = "...", steps = [...])`,
		"setUp":         `write workflow(name = "...", vus = ..., duration = "...", steps = [...])`,
		"task":          `write step(function, weight = 3) in a workflow's steps`,
		"between":       `write think = between("1s", "3s") in workflow(...)`,
		"constant":      `write think = "1s" in workflow(...)`,
		"dtls":          `DTLS: not as yet: hyperscale docs udp says what there is`,
		"ws":            `write websocket.exchange("ws://host/", send = ["hello"]), or vu.websocket.open("ws://host/") in a function`,
		"socket":        `write tcp.exchange("tcp://host:port", send = "ping\n", receive = tcp.line())`,
		"true":          `write True`,
		"false":         `write False`,
		"null":          `write None`,
		"nil":           `write None`,
		"undefined":     `write None`,
		"this":          `write vu, which a function takes as its first parameter`,
		"datetime":      `write time.now() in a function`,
		"Date":          `write time.now() in a function`,
		"re":            `write regex.find(pattern, text)`,
		"hashlib":       `write sha256(data) or md5(data)`,
		"uuid4":         `write uuid.v4() in a function`,
		"isinstance":    `write type(x) == "string", say`,
		"sum":           `add in a loop: there is no sum`,
		"map":           `write [f(x) for x in list]`,
		"filter":        `write [x for x in list if f(x)]`,
		"round":         `write math.round(x)`,
		"abs":           `write math.fabs(x)`,
		"pow":           `write math.pow(x, y)`,
		"input":         `write param("name", default = ...), and set it with --set name=value`,
		"len_":          `write len(x)`,
		"assertEqual":   `write expect.equal(got, want, "what") in a function`,
		"Exception":     `write fail("what is wrong") in a function`,
		"BatchRequests": `requests that are sent at the same time are steps of parallel(...), in a workflow's steps`,
	}
}

// attributes are names below what has them: "vu.http.batch".
func attributes() []map[string]string {
	return []map[string]string{clientAttributes(), userAttributes(), responseAttributes(), moduleAttributes(), typeAttributes()}
}

func clientAttributes() map[string]string {
	return map[string]string{
		"vu.http.batch":               `write parallel(step(...), step(...)) in a workflow's steps: they are sent at the same time`,
		"vu.http.del":                 `write vu.http.delete(url)`,
		"vu.http.asyncRequest":        `write vu.http.request("GET", url)`,
		"vu.http.file":                `write file("name") at the top of the file, and multipart = {...} in the request`,
		"vu.http.cookieJar":           `a virtual user keeps its cookies: write cookies = {...} to add some`,
		"vu.http.setResponseCallback": `write expect = [status(200, 404)] in step(...)`,
		"http.batch":                  `write parallel(step(...), step(...)) in a workflow's steps: they are sent at the same time`,
		"http.del":                    `write http.delete(url)`,
		"http.setResponseCallback":    `write expect = [status(200, 404)] in step(...)`,
	}
}

func userAttributes() map[string]string {
	sends := `write vu.http.get(url)`
	return map[string]string{
		"vu.ws":                  `write vu.websocket.open("ws://host/")`,
		"vu.socket":              `write vu.tcp.exchange("tcp://host:port", send = "ping\n", receive = tcp.line())`,
		"vu.grpc.invoke":         `write vu.grpc.call(client, "package.Service/Method", {...})`,
		"vu.redis.get":           `write vu.redis.command(target, "GET", "key")`,
		"vu.redis.set":           `write vu.redis.command(target, "SET", "key", "value")`,
		"vu.mqtt.subscriber":     `write vu.mqtt.subscribe(target, "dev/+/t")`,
		"vu.mqtt.send":           `write vu.mqtt.publish(target, "dev/1/t", "21.5")`,
		"vu.amqp.subscribe":      `write vu.amqp.consume(target, "jobs")`,
		"vu.amqp.send":           `write vu.amqp.publish(target, key = "jobs", body = "...")`,
		"vu.amqp.delete":         `there is no deletion as yet: declare with arguments = {"x-expires": 60000}, or auto_delete = True`,
		"vu.smtp.sendmail":       `write vu.smtp.send(target, sender = "a@x.test", to = "b@y.test", subject = "hi", body = "...")`,
		"vu.smtp.open":           `there are no sessions: vu.smtp.send hands a message over, on a connection that stays`,
		"vu.nats.fetch":          `write vu.nats.pull(target, stream = "ORDERS", consumer = "workers", batch = 100)`,
		"vu.kafka.subscribe":     `write vu.kafka.consume(target, ["orders"], count = 10)`,
		"vu.kafka.send":          `write vu.kafka.produce(target, "orders", key = "7", value = "tea")`,
		"vu.mongodb.find_one":    `write vu.mongodb.find(target, "orders", {...}, limit = 1)`,
		"vu.nats.subscriber":     `write vu.nats.subscribe(target, "orders.>")`,
		"vu.client":              sends,
		"vu.get":                 sends,
		"vu.post":                `write vu.http.post(url)`,
		"vu.put":                 `write vu.http.put(url)`,
		"vu.delete":              `write vu.http.delete(url)`,
		"vu.request":             `write vu.http.request("GET", url)`,
		"vu.session":             `write vu.http.get(url): a virtual user keeps its cookies`,
		"vu.pause":               `write vu.sleep("1s")`,
		"vu.think":               `write vu.sleep("1s"), or think = "1s" in workflow(...)`,
		"vu.print":               `write vu.log(text)`,
		"vu.debug":               `write vu.log(text)`,
		"vu.idInTest":            `write vu.id`,
		"vu.idInInstance":        `write vu.id`,
		"vu.iterationInScenario": `write vu.iteration`,
		"vu.iterationInInstance": `write vu.iteration`,
		"vu.env":                 `write param("name", default = ...) at the top of the file`,
		"vu.data":                `write vu.row for the feed's row, vu.vars for values of the virtual user`,
		"vu.feed":                `write vu.row["column"]`,
		"vu.user":                `write vu.id, or vu.row["user"] with a feed`,
		"vu.random.randint":      `write vu.random.int(low, high)`,
		"vu.random.integer":      `write vu.random.int(low, high)`,
		"vu.random.randrange":    `write vu.random.int(low, high)`,
		"vu.random.uniform":      `write vu.random.int(low, high), and divide`,
		"vu.random.random":       `write vu.random.int(low, high), and divide`,
		"vu.random.sample":       `write vu.random.shuffle(list)[:n]`,
		"vu.random.choices":      `write vu.random.choice(list)`,
	}
}

func responseAttributes() map[string]string {
	status := `write .status`
	body := `write .text() for the text, .body for the bytes, .json() for a value`
	return map[string]string{
		"response.status_code":      status,
		"response.statusCode":       status,
		"response.ok":               `write .status < 400`,
		"response.content":          body,
		"response.data":             body,
		"response.html":             `write html.first(response.text(), "css")`,
		"response.elapsed":          `write .latency`,
		"response.timings":          `write .latency.milliseconds`,
		"response.duration":         `write .latency`,
		"response.time":             `write .latency`,
		"response.header":           `write .headers.get("name")`,
		"response.success":          `return the response, and write a check for what is good: check(function) behind the step`,
		"response.failure":          `write fail("what is wrong")`,
		"response.raise_for_status": `a status of 400 or more fails the step by itself`,
		"response.cookies":          `write cookie("name") in extract = {...} of the step`,
		"response.url":              `the request's URL is not kept: use your own variable`,
		"response.reason":           `write .status, or .error`,
		"response.error_code":       `write .error`,
		"response.status_text":      `write .status, or .error`,
		"response.[]":               `write .json()["key"]`,
		"response.()":               `it is the response of a step: write response.json(), response.status`,
	}
}

func moduleAttributes() map[string]string {
	return map[string]string{
		"redis.Client":        `write redis.client("redis://host")`,
		"redis.get":           `write redis.command(target, "GET", "key")`,
		"redis.set":           `write redis.command(target, "SET", "key", "value")`,
		"kafka.subscribe":     `write kafka.consume(target, ["orders"], count = 10)`,
		"kafka.send":          `write kafka.produce(target, "orders", key = "7", value = "tea")`,
		"kafka.Writer":        `write kafka.client("kafka://host")`,
		"kafka.Reader":        `write kafka.consume(target, ["orders"], count = 10)`,
		"mongodb.find_one":    `write mongodb.find(target, "orders", {...}, limit = 1)`,
		"mongodb.insert_one":  `write mongodb.insert(target, "orders", {...})`,
		"mongodb.MongoClient": `write mongodb.client("mongodb://host/shop")`,
		"mqtt.subscribe":      `in a step's function write vu.mqtt.subscribe(target, "dev/+/t")`,
		"mqtt.Client":         `write mqtt.client("mqtt://host")`,
		"ftp.open":            `write ftp.get(f, "x"), or ftp.put(f, "x", "text")`,
		"ftp.retr":            `write ftp.get(f, "x")`,
		"ftp.stor":            `write ftp.put(f, "x", file("x.bin"))`,
		"ftp.remove":          `write ftp.delete(f, "x")`,
		"ftp.rmdir":           `there is no rmdir as yet: hyperscale docs ftp says what there is`,
		"ftp.connect":         `write f = ftp.client("ftp://app@host", password = secret("ftp"), tls = "explicit")`,
		"sftp.delete":         `write sftp.remove(h, "/data/x")`,
		"sftp.open":           `write sftp.get(h, "/data/x"), or sftp.put(h, "/data/x", "text")`,
		"scp.copy":            `write scp.get(h, "/data/x"), or scp.put(h, "/data/x", "text")`,
		"scp.client":          `write sftp.client("sftp://app@host", ...): scp takes the same target`,
		"amqp.consume":        `in a step's function write vu.amqp.consume(target, "jobs")`,
		"amqp.declare":        `in a function write vu.amqp.declare(target, queue = "jobs")`,
		"amqp.send":           `write amqp.publish(target, key = "jobs", body = "...")`,
		"amqp.connect":        `write amqp.client("amqp://host")`,
		"smtp.sendmail":       `write smtp.send(target, sender = "a@x.test", to = "b@y.test", subject = "hi", body = "...")`,
		"smtp.connect":        `write smtp.client("smtp://host:587", auth = smtp.plain("app", secret("mail")))`,
		"smtp.attach":         `write smtp.send(target, sender = "a@x.test", to = "b@y.test", attachments = {"a.pdf": file("a.pdf")})`,
		"nats.subscribe":      `in a step's function write vu.nats.subscribe(target, "orders.>")`,
		"nats.pull":           `in a step's function write vu.nats.pull(target, stream = "ORDERS", consumer = "workers")`,
		"nats.connect":        `write nats.client("nats://host")`,
		"redis.subscribe":     `a subscription is a session of a function: write vu.redis.subscribe("redis://host", ["news"])`,
		"redis.multi":         `write redis.pipeline(target, [["MULTI"], ..., ["EXEC"]])`,
		"time.sleep":          `write vu.sleep("1s")`,
		"time.time":           `write time.now().unix`,
		"time.perf_counter":   `write time.now(), and subtract`,
		"json.loads":          `write json.decode(text)`,
		"json.dumps":          `write json.encode(value)`,
		"json.parse":          `write json.decode(text)`,
		"json.stringify":      `write json.encode(value)`,
		"base64.b64encode":    `write base64.encode(data)`,
		"base64.b64decode":    `write base64.decode(text)`,
		"uuid.uuid4":          `write uuid.v4()`,
		"math.random":         `write vu.random.int(low, high)`,
		"regex.search":        `write regex.find(pattern, text)`,
		"regex.findall":       `write regex.find_all(pattern, text)`,
		"regex.sub":           `write regex.replace(pattern, text, replacement)`,
		"feed.csv_file":       `write feed.csv("name")`,
	}
}

func typeAttributes() map[string]string {
	return map[string]string{
		"list.push":              `write .append(x)`,
		"list.length":            `write len(list)`,
		"list.map":               `write [f(x) for x in list]`,
		"list.filter":            `write [x for x in list if f(x)]`,
		"list.forEach":           `write for x in list:`,
		"list.includes":          `write x in list`,
		"list.join":              `write ",".join(list)`,
		"list.sort":              `write sorted(list)`,
		"list.reverse":           `write reversed(list)`,
		"list.copy":              `write list(x)`,
		"dict.has_key":           `write key in dict`,
		"dict.length":            `write len(dict)`,
		"dict.hasOwnProperty":    `write key in dict`,
		"dict.copy":              `write dict(x)`,
		"string.length":          `write len(text)`,
		"string.includes":        `write "part" in text`,
		"string.contains":        `write "part" in text`,
		"string.indexOf":         `write .find("part")`,
		"string.trim":            `write .strip()`,
		"string.toUpperCase":     `write .upper()`,
		"string.toLowerCase":     `write .lower()`,
		"string.toString":        `a text is one already`,
		"string.substring":       `write text[from:to]`,
		"string.substr":          `write text[from:to]`,
		"string.startsWith":      `write .startswith("part")`,
		"string.endsWith":        `write .endswith("part")`,
		"string.encode":          `write bytes(text)`,
		"string.decode":          `a text needs none`,
		"string.isnumeric":       `write .isdigit()`,
		"int.toString":           `write str(number)`,
		"bytes.decode":           `write str(bytes), or response.text()`,
		"bytes.find":             `write response.text().find("part")`,
		"bytes.split":            `write response.text().split(",")`,
		"dict.()":                `write [key] for the value of a key`,
		"duration.total_seconds": `write .seconds`,
		"duration.ms":            `write .milliseconds`,
	}
}

// calls are functions that a file calls in the wrong place.
func calls() map[string]string {
	return map[string]string{
		"check":    `in a workflow's steps, write check(function), or expect = [status(200)] in step(...)`,
		"step":     `a function is a step itself: write step(function) in a workflow's steps, and vu.http.get(url) in the function`,
		"metric":   `write metric("name", kind = "distribution", value = function) in a workflow's steps`,
		"workflow": `write workflow(...) at the top of the file, not in a function`,
	}
}

// arguments that other tools have, by their names.
func foreignArguments() map[string]string {
	return map[string]string{
		"data":            `write form = {...} for a form, json = ... for JSON, body = "..." for a text`,
		"payload":         `write json = ... for JSON, body = "..." for a text`,
		"header":          `write headers = {"Name": "value"}`,
		"query":           `write params = {"name": "value"}`,
		"verify":          `write http = http.client(tls = tls(verify = False)) in workflow(...)`,
		"allow_redirects": `write redirects = 0`,
		"files":           `write multipart = {...}`,
		"catch_response":  `write a check for what is good: check(function) behind the step`,
		"linger":          `write it in kafka.client(url, linger = "5ms")`,
		"batch_size":      `write it in kafka.client(url, linger = "5ms", batch_size = 16384)`,
		"idempotent":      `write it in kafka.client(url, idempotent = True)`,
		"users":           `write vus = ...`,
		"spawn_rate":      `write stages = [stage("30s", vus = 100)]`,
		"executor":        `write vus and duration, iterations, or rate`,
		"time":            `write duration = "..."`,
	}
}

// Attribute returns what to write for an attribute that holder does not have.
func Attribute(holder, name string) string {
	for _, table := range attributes() {
		if remedy := table[holder+"."+name]; remedy != "" {
			return remedy
		}
	}
	return language.Absent(holder, name)
}

// Call returns what to write for a call in the wrong place.
func Call(path string) string { return calls()[path] }

// Argument returns what to write for an argument that a function does not have, unless the
// words of the remedy are not among what it takes.
func Argument(name string, takes []string) string {
	remedy := foreignArguments()[name]
	for _, w := range takes {
		if strings.Contains(remedy, w+" = ") || strings.Contains(remedy, "verify = ") || strings.Contains(remedy, "check(") && slices.Contains(takes, "url") {
			return remedy
		}
	}
	return ""
}

// Remedies returns what all tables propose.
func Remedies() []string {
	var all []string
	for _, table := range append(attributes(), names(), calls(), foreignArguments()) {
		for _, name := range slices.Sorted(maps.Keys(table)) {
			all = append(all, table[name])
		}
	}
	return all
}

// Unknown explains a name that nothing declares, at a place of a file; empty: it is not known.
func Unknown(file *syntax.File, name string, at syntax.Position) string {
	if line := declaredIn(file, name); line > 0 {
		return fmt.Sprintf("line %d gives it its value: move that line above this one", line)
	}
	if name != "vu" {
		if isKey(file, at) {
			return fmt.Sprintf("write %q: the keys of a dict are values, and texts have quotes", name)
		}
		return names()[name]
	}
	def := enclosing(file.Stmts, at)
	if def == nil {
		return "only functions have a virtual user: write def visit(vu), and step(visit)"
	}
	params := []string{"vu"}
	for _, p := range def.Params {
		if id := paramName(p); id != nil {
			params = append(params, id.Name)
		}
	}
	return fmt.Sprintf("write def %s(%s): the virtual user is the first parameter", def.Name.Name, strings.Join(params, ", "))
}

// isKey reports a name that stands as the key of a dict.
func isKey(file *syntax.File, at syntax.Position) bool {
	found := false
	syntax.Walk(file, func(n syntax.Node) bool {
		if entry, ok := n.(*syntax.DictEntry); ok {
			id, ok := entry.Key.(*syntax.Ident)
			found = found || ok && place(id.NamePos) == place(at)
		}
		return !found
	})
	return found
}

// declaredIn returns the line of the top level that declares a name; zero: none does.
func declaredIn(file *syntax.File, name string) (line int32) {
	for _, stmt := range file.Stmts {
		switch s := stmt.(type) {
		case *syntax.AssignStmt:
			targets(s.LHS, func(id *syntax.Ident) {
				if id.Name == name && line == 0 {
					line = id.NamePos.Line
				}
			})
		case *syntax.DefStmt:
			if s.Name.Name == name && line == 0 {
				line = s.Def.Line
			}
		}
	}
	return line
}

// enclosing returns the outermost function around a place.
func enclosing(list []syntax.Stmt, at syntax.Position) *syntax.DefStmt {
	var found *syntax.DefStmt
	for _, stmt := range list {
		syntax.Walk(stmt, func(n syntax.Node) bool {
			if def, ok := n.(*syntax.DefStmt); ok && found == nil {
				if from, to := def.Span(); from.Line <= at.Line && at.Line <= to.Line {
					found = def
				}
			}
			return found == nil
		})
	}
	return found
}
