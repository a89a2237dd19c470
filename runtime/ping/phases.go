package ping

import (
	"context"
	"fmt"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/protocol/http1"
)

// course is where the time goes, phase by phase.
type course struct {
	StartedAt time.Time `json:"started_at"`
	Phases    []Phase   `json:"phases"`
	at        time.Time // when the phase under way began
	phase     message.Phase
}

// enter ends the phase under way and begins the next.
func (r *course) enter(p message.Phase) {
	now := time.Now()
	switch {
	case r.phase == message.PhaseNone && len(r.Phases) == 0:
		r.StartedAt = now
	case r.phase != message.PhaseNone:
		r.Phases = append(r.Phases, Phase{Name: phaseName(r.phase), OffsetNS: int64(r.at.Sub(r.StartedAt)), NS: int64(now.Sub(r.at))})
	}
	r.phase, r.at = p, now
}

func (r *course) phaseAtEnd() string {
	if len(r.Phases) == 0 {
		return ""
	}
	return r.Phases[len(r.Phases)-1].Name
}

// phaseName is the phase's name in a load test's result.
func phaseName(p message.Phase) string {
	switch p {
	case message.PhaseDNS:
		return "dns"
	case message.PhaseConnect:
		return "connect"
	case message.PhaseTLS:
		return "tls"
	case message.PhaseSend:
		return "send"
	case message.PhaseWait:
		return "wait"
	case message.PhaseReceive:
		return "receive"
	}
	return fmt.Sprintf("phase %d", p)
}

// kindOf names a failure as a load test would.
func kindOf(ctx context.Context, err error, phase string) http1.Kind {
	kind := http1.KindOf(err)
	if context.Cause(ctx) == context.Canceled {
		return http1.KindCancelled
	}
	if kind != http1.KindTimeout {
		return kind
	}
	switch phase {
	case "dns":
		return http1.KindDNS
	case "connect", "tls":
		return http1.KindConnectTimeout
	case "send":
		return http1.KindWriteTimeout
	}
	return kind
}
