package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// finding is a server that answers each find with one document, faster than a database would: the clients are
// measured. It greets mongo-driver by OP_QUERY, too.
type finding struct {
	listener     net.Listener
	counter      *counter
	hello, found []byte
}

func newFinding(c serverConfig, n *counter) (*finding, error) {
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return nil, err
	}
	f := &finding{listener: listener, counter: n}
	if f.hello, err = bson.Marshal(bson.D{{Key: "ismaster", Value: true}, {Key: "isWritablePrimary", Value: true}, {Key: "minWireVersion", Value: 0}, {Key: "maxWireVersion", Value: 21}, {Key: "maxBsonObjectSize", Value: 16 << 20},
		{Key: "maxMessageSizeBytes", Value: 48_000_000}, {Key: "maxWriteBatchSize", Value: 100_000}, {Key: "ok", Value: 1.0}}); err != nil {
		return nil, err
	}
	batch := bson.A{bson.D{{Key: "_id", Value: 7}, {Key: "drink", Value: "tea"}, {Key: "price", Value: 2.5}}}
	f.found, err = bson.Marshal(bson.D{{Key: "cursor", Value: bson.D{{Key: "firstBatch", Value: batch}, {Key: "id", Value: int64(0)}, {Key: "ns", Value: "shop.orders"}}}, {Key: "ok", Value: 1.0}})
	return f, err
}

func (f *finding) serve() error {
	for {
		c, err := f.listener.Accept()
		if err != nil {
			return err
		}
		go f.talk(c)
	}
}

const (
	mongoReply = 1
	mongoQuery = 2004
	mongoMsg   = 2013
)

func (f *finding) talk(c net.Conn) {
	defer func() { _ = c.Close() }() // the client has gone
	in, out, body := bufio.NewReader(c), []byte(nil), []byte(nil)
	for {
		var head [16]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return
		}
		size := int(binary.LittleEndian.Uint32(head[:])) - len(head)
		if size < 10 || size > 1<<20 {
			return
		}
		body = slices.Grow(body[:0], size)[:size]
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		code, between, answer := mongoMsg, []byte{0, 0, 0, 0, 0}, f.hello
		if binary.LittleEndian.Uint32(head[12:]) == mongoQuery {
			code, between = mongoReply, []byte{8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0}
		} else if bytes.HasPrefix(body[10:], []byte("find\x00")) {
			answer = f.found
			f.counter.requests.Add(1)
		}
		out = binary.LittleEndian.AppendUint32(out[:0], uint32(len(head)+len(between)+len(answer)))
		out = append(append(out, 0, 0, 0, 0), head[4:8]...)
		out = append(append(binary.LittleEndian.AppendUint32(out, uint32(code)), between...), answer...)
		if _, err := c.Write(out); err != nil {
			return
		}
	}
}

// withMongoDB has a client of mongo-driver, with so many connections, do something.
func withMongoDB(address string, connections int, do func(*mongo.Collection) error) error {
	client, err := mongo.Connect(options.Client().ApplyURI("mongodb://" + address).SetMaxPoolSize(uint64(connections)).SetMinPoolSize(uint64(connections)).SetRetryReads(false).SetRetryWrites(false))
	if err != nil {
		return err
	}
	defer func() { _ = client.Disconnect(context.Background()) }() // nothing is under way
	return do(client.Database("shop").Collection("orders"))
}

// mongoLoop finds one document after the other over mongo-driver: one client, and a goroutine for each of its
// connections. Each user of ours has a client's connection of its own: one client favours the driver.
func mongoLoop(c loopConfig) (requests, failures uint64, err error) {
	var all sync.WaitGroup
	var done, failed atomic.Uint64
	until := time.Now().Add(c.Duration)
	err = withMongoDB(c.Address, c.Connections, func(orders *mongo.Collection) error {
		for range c.Connections {
			all.Go(func() {
				n := uint64(0)
				for ; time.Now().Before(until); n++ {
					if _, err := orders.FindOne(context.Background(), bson.D{{Key: "_id", Value: 7}}).Raw(); err != nil {
						failed.Add(1)
						break
					}
				}
				done.Add(n)
			})
		}
		all.Wait()
		return nil
	})
	return done.Load(), failed.Load(), err
}

const mongoConnections = 64

// mongodb compares finds of one document, on 64 connections.
func (b *bench) mongodb() error {
	s, err := startServer(serverConfig{Kind: "mongodb"}, b.serverCPUs)
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }()
	step := fmt.Sprintf("step(\"find\", mongodb.find(\"mongodb://%s/shop\", \"orders\", {\"_id\": 7}, limit = 1))", s.Address)
	us, err := b.ours("mongodb", 1, flow{Name: "mongodb", Step: step, VUs: mongoConnections, Duration: b.duration})
	if err != nil {
		return err
	}
	peer, err := loopContender(loopConfig{Name: "mongo-driver", Address: s.Address, Connections: mongoConnections, Duration: b.duration})
	if err != nil {
		return err
	}
	rows := b.cost("mongodb", fmt.Sprintf("%d connections, a find of one document", mongoConnections), s, []contender{us, peer})
	b.bars("0.4", rows, rival{"mongo-driver", 1 / 0.4})
	return nil
}

func (b *bench) takesMongoDB() time.Duration { return b.turns(2*b.rounds, b.duration) }
