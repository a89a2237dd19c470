package talk

import (
	"fmt"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/request"
)

// NewPlan prepares what a step exchanges. It returns the request that upgrades, without the
// placeholders of messages; nil: no HTTP opens the connection, and Shown says where it goes.
func NewPlan(r *request.Request, w *workflow.Workflow, memory *Memory) (*Plan, *request.Request, error) {
	p := &Plan{stays: !w.HTTP.NoKeepAlive}
	switch {
	case r.Socket != nil:
		upgrade, err := p.socket(r, w, &memory.messages)
		return p, upgrade, err
	case r.Custom != nil:
		p.custom(r)
		return p, nil, nil
	case r.Raw != nil:
		return p, nil, p.raw(r, w)
	case r.Datagram != nil:
		return p, nil, p.datagram(r, w)
	case r.Redis != nil:
		return p, nil, p.redis(r, w, memory)
	case r.Kafka != nil:
		return p, nil, p.kafka(r, w, memory)
	case r.MQTT != nil:
		return p, nil, p.mqtt(r, w, memory)
	case r.AMQP != nil:
		return p, nil, p.amqp(r, w, memory)
	case r.SMTP != nil:
		return p, nil, p.smtp(r, w, memory)
	case r.FTP != nil:
		return p, nil, p.ftp(r, w, memory)
	case r.SFTP != nil:
		return p, nil, p.sftp(r, w, memory)
	case r.MongoDB != nil:
		return p, nil, p.mongoDB(r, w, memory)
	case r.NATS != nil:
		return p, nil, p.nats(r, w, memory)
	case r.SQL != nil && r.SQL.MySQL():
		return p, nil, p.mysql(r, w, memory)
	case r.SQL != nil:
		return p, nil, p.sql(r, w, memory)
	}
	return nil, nil, fmt.Errorf("it exchanges nothing: load the workflow again")
}
