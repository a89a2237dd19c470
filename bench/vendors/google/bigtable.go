package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"cloud.google.com/go/bigtable"
	"cloud.google.com/go/bigtable/apiv2/bigtablepb"
	"cloud.google.com/go/bigtable/bttest"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

const (
	instance  = "load"
	btTable   = "hyperscale"
	rowKeyMax = 4096
	mutateMax = 100_000
)

// tablet is Google's in-memory Bigtable, behind a guard that wants tokens.
type tablet struct {
	authority *authority
	address   string
}

// allows says that a call has a token and names its table for routing.
func (b *tablet) allows(ctx context.Context, method string) error {
	head, _ := metadata.FromIncomingContext(ctx)
	r := &http.Request{Header: http.Header{"Authorization": head.Get("authorization")}}
	switch status_, reason := b.authority.allows(r, "bigtable.data", "cloud-platform", "bigtable.admin"); {
	case status_ == http.StatusUnauthorized:
		return status.Error(codes.Unauthenticated, reason)
	case status_ != http.StatusOK:
		return status.Error(codes.PermissionDenied, reason)
	}
	if params := head.Get("x-goog-request-params"); strings.HasSuffix(method, "/MutateRows") && (len(params) != 1 || !strings.Contains(params[0], "table_name=projects%2F")) {
		return status.Error(codes.InvalidArgument, fmt.Sprintf("no routing: %q", params))
	}
	return nil
}

// bounded enforces what Bigtable documents and the in-memory server does not.
type bounded struct{ grpc.ServerStream }

func (s bounded) RecvMsg(m any) error {
	if err := s.ServerStream.RecvMsg(m); err != nil {
		return err
	}
	asked, ok := m.(*bigtablepb.MutateRowsRequest)
	if !ok {
		return nil
	}
	n := 0
	for _, e := range asked.Entries {
		n += len(e.Mutations)
		if len(e.RowKey) == 0 || len(e.RowKey) > rowKeyMax {
			return status.Error(codes.InvalidArgument, fmt.Sprintf("a row key of %d bytes", len(e.RowKey)))
		}
		for _, c := range e.Mutations {
			if at := c.GetSetCell().GetTimestampMicros(); at%1000 != 0 || at < -1 {
				return status.Error(codes.InvalidArgument, fmt.Sprintf("timestamp %d", at))
			}
		}
	}
	if n > mutateMax || len(asked.Entries) == 0 {
		return status.Error(codes.InvalidArgument, fmt.Sprintf("%d mutations", n))
	}
	return nil
}

func newTablet(a *authority) (*tablet, error) {
	b := &tablet{authority: a}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b.address = l.Addr().String()
	bttest.NewServerWithListener(l, grpc.UnaryInterceptor(func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		if err := b.allows(ctx, info.FullMethod); err != nil {
			return nil, err
		}
		return next(ctx, req)
	}), grpc.StreamInterceptor(func(srv any, s grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		if err := b.allows(s.Context(), info.FullMethod); err != nil {
			return err
		}
		return next(srv, bounded{s})
	}))
	return b, nil
}

// plain sends tokens without TLS, to this machine.
type plain struct{ oauth2.TokenSource }

func (p plain) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	t, err := p.Token()
	if err != nil {
		return nil, err
	}
	return map[string]string{"authorization": "Bearer " + t.AccessToken}, nil
}

func (plain) RequireTransportSecurity() bool { return false }

func (b *tablet) dial(ctx context.Context, scope string) (*grpc.ClientConn, error) {
	c, err := google.JWTConfigFromJSON(b.authority.account(), "https://www.googleapis.com/auth/"+scope)
	if err != nil {
		return nil, err
	}
	return grpc.NewClient(b.address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithPerRPCCredentials(plain{c.TokenSource(ctx)}))
}

// judge creates the table with the vendor's client, writes to it and reads, and sees a wrong scope rejected.
func (b *tablet) judge() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	conn, err := b.dial(ctx, "bigtable.admin")
	if err != nil {
		return err
	}
	admin, err := bigtable.NewAdminClient(ctx, project, instance, option.WithGRPCConn(conn))
	if err != nil {
		return err
	}
	defer func() { _ = admin.Close() }()
	if err := admin.CreateTable(ctx, btTable); err != nil {
		return fmt.Errorf("the vendor's client creates: %w", err)
	}
	if err := admin.CreateColumnFamily(ctx, btTable, "r"); err != nil {
		return fmt.Errorf("the vendor's client creates a family: %w", err)
	}
	write := func(scope string) error {
		conn, err := b.dial(ctx, scope)
		if err != nil {
			return err
		}
		c, err := bigtable.NewClientWithConfig(ctx, project, instance, bigtable.ClientConfig{MetricsProvider: bigtable.NoopMetricsProvider{}}, option.WithGRPCConn(conn))
		if err != nil {
			return err
		}
		defer func() { _ = c.Close() }()
		m := bigtable.NewMutation()
		m.Set("r", "row", bigtable.Timestamp(7000), []byte("judged"))
		failed, err := c.Open(btTable).ApplyBulk(ctx, []string{"judged"}, []*bigtable.Mutation{m})
		if err == nil && len(failed) > 0 {
			err = failed[0]
		}
		return err
	}
	if err := write("bigtable.data"); err != nil {
		return fmt.Errorf("the vendor's client writes: %w", err)
	}
	if err := write("devstorage.read_write"); status.Code(err) != codes.PermissionDenied {
		return fmt.Errorf("the vendor's client writes with another scope: %v", err)
	}
	cells, err := b.cells("judged")
	if err != nil || len(cells) != 1 || cells[0].Row != "judged" {
		return fmt.Errorf("the vendor's client reads %v, %w", cells, err)
	}
	return admin.DropRowRange(ctx, btTable, "judged")
}

// cell is the newest one of the column that has the row, and how many columns are beside it.
type cell struct {
	Key, Row string
	Micros   int64
	Columns  int
}

// cells reads what is there with the vendor's client.
func (b *tablet) cells(prefix string) ([]cell, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	conn, err := b.dial(ctx, "bigtable.data")
	if err != nil {
		return nil, err
	}
	c, err := bigtable.NewClientWithConfig(ctx, project, instance, bigtable.ClientConfig{MetricsProvider: bigtable.NoopMetricsProvider{}}, option.WithGRPCConn(conn))
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	all := []cell{}
	err = c.Open(btTable).ReadRows(ctx, bigtable.PrefixRange(prefix), func(r bigtable.Row) bool {
		found := cell{Key: r.Key(), Columns: len(r["r"])}
		for _, item := range r["r"] {
			if item.Column == "r:row" {
				found.Row, found.Micros = string(item.Value), int64(item.Timestamp)
			}
		}
		all = append(all, found)
		return true
	}, bigtable.RowFilter(bigtable.LatestNFilter(1)))
	return all, err
}

func (b *tablet) page(w http.ResponseWriter, r *http.Request) {
	all, err := b.cells(r.FormValue("prefix"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_ = json.NewEncoder(w).Encode(all)
}
