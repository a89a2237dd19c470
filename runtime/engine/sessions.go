package engine

import "crypto/tls"

// sessions are those of TLS that one virtual user may resume, by server.
type sessions struct {
	states map[string]*tls.ClientSessionState
}
