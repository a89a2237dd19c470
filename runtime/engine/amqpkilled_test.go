package engine

import (
	"context"
	"fmt"
	"testing"
	"time"

	"hyperscale/core/plan"
	"hyperscale/runtime/protocol/hostile/amqp/amqptest"
)

// A RabbitMQ is killed in the middle of a run whose users share connections, and starts again. Each operation ends
// once, those under way fail, users go on over new connections, and the queue has no message less than are confirmed
// and none more than were sent.
func TestRabbitMQIsKilled(t *testing.T) {
	t.Parallel()
	s := amqptest.Start(t)
	s.Dial().DeclareDurable("killed")
	time.Sleep(3 * time.Second) // the log of its queues keeps what is new in memory for two, and a kill loses that
	w := loadFile(t, s.URL(), fmt.Sprintf(`
q = amqp.client("TARGET", connections = %d)
workflow(name = "test", vus = 64, think = "20ms", duration = "300s", steps = [step("put", amqp.publish(q, key = "killed", body = "hello", confirm = True, persistent = True))])`, sharedConnections))
	ctx, cancel := context.WithCancel(context.Background())
	played := make(chan struct{})
	go func() {
		defer close(played)
		defer cancel()
		reaches := func(own *amqptest.Client, most uint32) (n uint32) {
			for n, _ = own.Length("killed"); n < most; n, _ = own.Length("killed") {
				time.Sleep(5 * time.Millisecond)
			}
			return n
		}
		reaches(s.Dial(), 500)
		s.Kill()
		s.Again()
		own := s.Dial()
		before, _ := own.Length("killed")
		reaches(own, before+500)
	}()
	got := run(t, ctx, Config{Workflow: w, VUs: 64, Duration: 5 * time.Minute, Timeout: 20 * time.Second}).Stats.Steps[0]
	<-played
	all, has := measured(got), s.Dial().Settled("killed")
	sent := all[plan.MeasureMessagesSent].Count
	switch {
	case got.Started != got.OK+got.Failed+got.TimedOut+got.Cancelled:
		t.Errorf("ok %d, failed %d, timed out %d, cancelled %d of %d", got.OK, got.Failed, got.TimedOut, got.Cancelled, got.Started)
	case kinds(got)["refused"] == 0:
		t.Errorf("no user has met the server that is gone: %v", got.Errors)
	case has < got.OK, has > sent, all[plan.MeasureConfirmLatency].Times.Count != got.OK:
		t.Errorf("%d are confirmed, the queue has %d, %d are sent: %v", got.OK, has, sent, got.Errors)
	}
	t.Logf("%d confirmed, %d of the queue, %d sent of %d: %v", got.OK, has, sent, got.Started, got.Errors)
}
