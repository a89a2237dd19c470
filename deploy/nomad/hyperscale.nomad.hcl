# This job has never run on Nomad: a test parses it, and the binary checks its settings.
#
# It starts three gates, and three managers of one datacenter. Each gate has a host of its own, and so has each manager; a host has a volume
# `hyperscale`. The sets are the addresses of these hosts: a node that is not in its set refuses to start. workers.nomad.hcl has the workers.
variable "image" {
  type    = string
  default = "hyperscale"
}

variable "datacenter" {
  type    = string
  default = "dc1"
}

variable "gates" {
  type    = string
  default = "10.0.0.1:7400,10.0.0.2:7400,10.0.0.3:7400"
}

variable "managers" {
  type    = string
  default = "10.0.0.1:7500,10.0.0.2:7500,10.0.0.3:7500"
}

job "hyperscale" {
  type = "service"

  # One member at a time: two of three away are no majority.
  update {
    max_parallel     = 1
    health_check     = "checks"
    min_healthy_time = "10s"
    healthy_deadline = "10m"
  }

  group "gates" {
    count = 3

    constraint {
      operator = "distinct_hosts"
      value    = "true"
    }

    network {
      mode = "host"
      port "node" { static = 7400 }
      port "admin" { static = 9400 }
    }

    volume "data" {
      type   = "host"
      source = "hyperscale"
    }

    service {
      name     = "hyperscale-gate"
      port     = "node"
      provider = "nomad"

      check {
        type     = "http"
        port     = "admin"
        path     = "/readyz"
        interval = "5s"
        timeout  = "2s"
      }
    }

    task "gate" {
      driver       = "docker"
      kill_signal  = "SIGTERM"
      kill_timeout = "40s"

      config {
        image        = var.image
        network_mode = "host"
        args = [
          "gate", "--id=gate-${node.unique.name}", "--listen=0.0.0.0:7400", "--advertise=${attr.unique.network.ip-address}:7400",
          "--admin=0.0.0.0:9400", "--data=/data/gate",
        ]
      }

      env {
        HYPERSCALE_GATES          = var.gates
        HYPERSCALE_CLUSTER_SECRET = "${NOMAD_SECRETS_DIR}/cluster"
      }

      template {
        data        = "{{ with nomadVar \"nomad/jobs/hyperscale\" }}{{ .cluster_secret }}{{ end }}"
        destination = "secrets/cluster"
        change_mode = "noop" # the node reads a changed file itself
        perms       = "0400"
        uid         = 65532
        gid         = 65532
      }

      volume_mount {
        volume      = "data"
        destination = "/data"
      }

      resources {
        cores  = 1
        memory = 1024
      }
    }
  }

  group "managers" {
    count = 3

    constraint {
      operator = "distinct_hosts"
      value    = "true"
    }

    network {
      mode = "host"
      port "node" { static = 7500 }
      port "admin" { static = 9500 }
    }

    volume "data" {
      type   = "host"
      source = "hyperscale"
    }

    service {
      name     = "hyperscale-manager"
      port     = "node"
      provider = "nomad"

      check {
        type     = "http"
        port     = "admin"
        path     = "/readyz"
        interval = "5s"
        timeout  = "2s"
      }
    }

    task "manager" {
      driver       = "docker"
      kill_signal  = "SIGTERM"
      kill_timeout = "40s"

      config {
        image        = var.image
        network_mode = "host"
        args = [
          "manager", "--id=manager-${node.unique.name}", "--listen=0.0.0.0:7500", "--advertise=${attr.unique.network.ip-address}:7500",
          "--admin=0.0.0.0:9500", "--data=/data/manager",
        ]
      }

      env {
        HYPERSCALE_DATACENTER     = var.datacenter
        HYPERSCALE_GATES          = var.gates
        HYPERSCALE_MANAGERS       = var.managers
        HYPERSCALE_CLUSTER_SECRET = "${NOMAD_SECRETS_DIR}/cluster"
      }

      template {
        data        = "{{ with nomadVar \"nomad/jobs/hyperscale\" }}{{ .cluster_secret }}{{ end }}"
        destination = "secrets/cluster"
        change_mode = "noop"
        perms       = "0400"
        uid         = 65532
        gid         = 65532
      }

      volume_mount {
        volume      = "data"
        destination = "/data"
      }

      resources {
        cores  = 1
        memory = 1024
      }
    }
  }
}
