package sse

import (
	"fmt"
	"mime"

	"hyperscale/runtime/protocol/http1"
)

// Foreign says why an answer is no stream of events; nil: its head says that it is one.
func Foreign(head *http1.Collector) error {
	kind, _ := head.Header("Content-Type")
	if name, _, err := mime.ParseMediaType(kind); err != nil || name != "text/event-stream" {
		if kind == "" {
			kind = "of no type"
		}
		return &http1.Error{Kind: http1.KindProtocol, Detail: fmt.Sprintf("the answer is %s, not text/event-stream", kind)}
	}
	if coding, _ := head.Header("Content-Encoding"); coding != "" && coding != "identity" {
		return &http1.Error{Kind: http1.KindEncoding, Detail: fmt.Sprintf("the stream is encoded with %s, which delays its events: the request did not offer it", coding)}
	}
	return nil
}
