package workflow

import (
	"hyperscale/core/workflow/broker"
	"hyperscale/core/workflow/broker/kafka"
	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/custom"
	"hyperscale/core/workflow/demand"
	"hyperscale/core/workflow/extract"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/mail"
	"hyperscale/core/workflow/mongodb"
	"hyperscale/core/workflow/request"
	"hyperscale/core/workflow/transfer"
	"maps"
	"slices"

	"go.starlark.net/starlark"
)

// addModules adds the built-in modules: a hermetic language cannot let users add them.
func addModules(all starlark.StringDict) {
	all["aws"] = language.NewNamespace("aws", starlark.StringDict{"sign": builtin.AWSSign()})
	all["base64"] = builtin.Base64()
	all["expect"] = builtin.Expect()
	all["feed"] = feedNamespace()
	all["file"] = fileNamespace()
	all["hex"] = builtin.Hex()
	all["hmac"] = builtin.HMAC()
	all["html"] = builtin.HTML()
	all["jwt"] = builtin.JWT()
	all["math"] = builtin.Math()
	for _, name := range []string{"md5", "sha1", "sha256", "sha512"} {
		all[name] = builtin.DigestFunction(name)
	}
	all["regex"] = guard.Callable{Namespace: builtin.Regex(), Call: extract.Extractor("regex", "pattern", extract.Regex)}
	all["struct"] = &guard.Func{Word: "struct", Call: builtin.NewStruct}
	all["time"] = builtin.TimeModule()
	all["url"] = builtin.URL()
	all["uuid"] = builtin.UUID()
	all["xml"] = builtin.XML()
}

// declared lists the names that the language adds to Starlark's own.
func declared() []string {
	return slices.Sorted(maps.Keys(vocabulary()))
}

// universe returns what a file sees besides Starlark's own names. A load builds it once, and
// all virtual users share it, frozen.
func universe() starlark.StringDict {
	all := guard.Guards()
	maps.Copy(all, vocabulary())
	return all
}

func vocabulary() starlark.StringDict {
	all := starlark.StringDict{}
	all["secret"] = declaring("secret", (*loader).secret)
	all["barrier"] = declaring("barrier", (*loader).barrier)
	all["counter"] = declaring("counter", (*loader).counter)
	all["param"] = declaring("param", (*loader).param)
	all["workflow"] = declaring("workflow", (*loader).workflow)
	all["step"] = declaring("step", (*loader).step)
	all["check"] = declaring("check", (*loader).check)
	all["metric"] = declaring("metric", (*loader).metric)
	all["action"] = declaring("action", (*loader).action)
	all["parallel"] = declaring("parallel", (*loader).parallel)
	all["provide"] = declaring("provide", (*loader).provide)
	all["use"] = declaring("use", (*loader).use)
	all[beforeAll] = declaring(beforeAll, (*loader).beforeAll)
	all[afterAll] = declaring(afterAll, (*loader).afterAll)
	all["fail"] = &guard.Func{Word: "fail", Call: failStep}
	all["stage"] = &guard.Func{Word: "stage", Call: demand.NewStage}
	all["between"] = &guard.Func{Word: "between", Call: demand.NewBetween}
	all["tls"] = &guard.Func{Word: "tls", Call: request.NewTLS}
	all["json_path"] = extract.Extractor("json_path", "path", extract.JSON)
	all["header"] = extract.Extractor("header", "name", extract.Header)
	all["cookie"] = extract.Extractor("cookie", "name", extract.Cookie)
	all["form_value"] = extract.Extractor("form_value", "name", extract.Form)
	all["css"] = &guard.Func{Word: "css", Call: extract.NewCSS}
	all["xpath"] = extract.Extractor("xpath", "path", extract.XPath)
	//lint:orderfree a dict has no order either
	for name, read := range extract.Expectations() {
		all[name] = extract.Expectation(name, read)
	}
	all["retry"] = request.NewRetry()
	all["dns"] = &guard.Func{Word: "dns", Call: request.NewDNS}
	all["json"] = builtin.JSON()
	members := request.Requester("http", nil, nil, describeRequest)
	members["client"] = &guard.Func{Word: "client", Call: request.NewClient}
	members["basic"] = &guard.Func{Word: "basic", Call: request.NewBasic}
	members["digest"] = &guard.Func{Word: "digest", Call: request.NewDigest}
	members["bearer"] = &guard.Func{Word: "bearer", Call: request.NewBearer}
	members["part"] = &guard.Func{Word: "part", Call: request.NewPart}
	all["http"] = language.NewNamespace("http", members)
	all["grpc"] = request.GRPCNamespace("grpc", nil, describeCall, starlark.StringDict{
		"proto": declaring("grpc.proto", readProto), "descriptors": declaring("grpc.descriptors", readDescriptors), "reflect": declaring("grpc.reflect", reflects),
	})
	all["custom"] = custom.Namespace("custom", nil, describeProgram, declaring("custom.client", customClient))
	all["graphql"] = request.GraphQL("graphql", nil, describeQuery)
	all["sql"] = request.SQLNamespace("sql", nil, describeStatements)
	all["sse"] = request.SSE("sse", nil, readUntil, describeStream)
	all["kafka"] = kafka.Namespace("kafka", nil, describeRecord)
	all["mongodb"] = mongodb.Namespace("mongodb", nil, describeCommand)
	all["mqtt"] = broker.MQTT("mqtt", nil, describeDelivery)
	all["smtp"] = mail.SMTP("smtp", nil, describeMail)
	all["amqp"] = broker.AMQP("amqp", nil, describeQueued)
	all["ftp"] = transfer.FTP("ftp", nil, describeTransfer)
	all["sftp"] = transfer.SFTP("sftp", nil, describeTransfer)
	all["scp"] = transfer.SCP("scp", nil, describeTransfer)
	all["nats"] = broker.NATS("nats", nil, describeMessage)
	all["redis"] = request.RedisNamespace("redis", nil, describeOperation)
	all["tcp"] = request.TCP("tcp", nil, describeExchange)
	all["udp"] = request.UDP("udp", nil, describeExchange)
	all["websocket"] = request.WebSocket("websocket", readUntil, describeSocket)
	addModules(all)
	return all
}
