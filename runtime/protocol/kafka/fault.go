package kafka

import (
	"fmt"

	"hyperscale/runtime/protocol/http1"
)

func breach(format string, values ...any) *http1.Error {
	return &http1.Error{Kind: http1.KindProtocol, Detail: fmt.Sprintf(format, values...)}
}

var (
	errNoBroker     = breach("what came is no answer to ApiVersions: is this a Kafka broker, and does the scheme fit (kafka:// or kafkas://)?")
	errSize         = breach("an answer says that it has fewer than four bytes")
	errEarly        = breach("the broker answered before all of the request was sent")
	errUnasked      = breach("an answer came, and nothing had been asked")
	errNoPartitions = breach("the broker tells of a topic without partitions")
	errSilent       = &http1.Error{Kind: http1.KindClosed, Detail: "the broker closed the connection before it answered"}
	errCut          = &http1.Error{Kind: http1.KindTruncated, Detail: "the connection was closed in the middle of an answer"}
	errOver         = &http1.Error{Kind: http1.KindClosed, Detail: "the connection is over: nothing more can be sent"}
	errZstd         = &http1.Error{Kind: http1.KindValue, Detail: "compression: the broker takes no zstd, which Kafka has since 2.1: write \"gzip\""}
)

func errNumber(got, want int32) *http1.Error {
	return breach("an answer has the number %d, and that of request %d comes next", got, want)
}

func errShort(a api) *http1.Error {
	return breach("an answer to %s does not have what it says", a)
}

func errLarge(size, most int64) *http1.Error {
	return &http1.Error{Kind: http1.KindTooLarge, Detail: fmt.Sprintf("an answer says that it has %d bytes, and %d are taken: raise max_body", size, most)}
}

// errMany is the error of a cluster that is larger than what is taken.
func errMany(n int, of string, most int) *http1.Error {
	return breach("an answer to Metadata tells of %d %s, and %d are taken", n, of, most)
}

// errVersion is the error of a request that both sides have no version of.
func errVersion(a api) *http1.Error {
	own := ours(a)
	return breach("the broker speaks none of the versions %d to %d of %s: brokers from Kafka 1.0 on do", own.low, own.high, a)
}
