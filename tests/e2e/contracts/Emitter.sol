// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// Stands in for the V2 exchange on a test node: checks nothing, moves nothing, emits what a match emits.
contract Emitter {
    struct Order {
        uint256 salt;
        address maker;
        address signer;
        uint256 tokenId;
        uint256 makerAmount;
        uint256 takerAmount;
        uint8 side;
        uint8 signatureType;
        uint256 timestamp;
        bytes32 metadata;
        bytes32 builder;
        bytes signature;
    }

    event OrderFilled(
        bytes32 indexed orderHash,
        address indexed maker,
        address indexed taker,
        uint8 side,
        uint256 tokenId,
        uint256 makerAmountFilled,
        uint256 takerAmountFilled,
        uint256 fee,
        bytes32 builder,
        bytes32 metadata
    );
    event OrdersMatched(
        bytes32 indexed takerOrderHash,
        address indexed takerOrderMaker,
        uint8 side,
        uint256 tokenId,
        uint256 makerAmountFilled,
        uint256 takerAmountFilled
    );

    bytes32 private constant ORDER_TYPE = keccak256(
        "Order(uint256 salt,address maker,address signer,uint256 tokenId,uint256 makerAmount,uint256 takerAmount,uint8 side,uint8 signatureType,uint256 timestamp,bytes32 metadata,bytes32 builder)"
    );
    bytes32 private constant DOMAIN_TYPE =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");

    function hashOrder(Order memory order) public view returns (bytes32) {
        bytes32 domain = keccak256(
            abi.encode(
                DOMAIN_TYPE,
                keccak256("Polymarket CTF Exchange"),
                keccak256("2"),
                block.chainid,
                address(this)
            )
        );
        bytes32 body = keccak256(
            bytes.concat(
                abi.encode(ORDER_TYPE, order.salt, order.maker, order.signer, order.tokenId, order.makerAmount),
                abi.encode(
                    order.takerAmount,
                    order.side,
                    order.signatureType,
                    order.timestamp,
                    order.metadata,
                    order.builder
                )
            )
        );
        return keccak256(abi.encodePacked(hex"1901", domain, body));
    }

    /// Complementary matches only: every maker is on the other side of the taker.
    function matchOrders(
        bytes32,
        Order memory taker,
        Order[] memory makers,
        uint256,
        uint256[] memory makerFills,
        uint256 takerFee,
        uint256[] memory makerFees
    ) external {
        uint256 given = 0;
        uint256 got = 0;
        for (uint256 i = 0; i < makers.length; i++) {
            uint256 taking = (makerFills[i] * makers[i].takerAmount) / makers[i].makerAmount;
            given += taking;
            got += makerFills[i];
            fill(makers[i], taker.maker, makerFills[i], taking, makerFees[i]);
        }
        fill(taker, address(this), given, got, takerFee);
        emit OrdersMatched(hashOrder(taker), taker.maker, taker.side, taker.tokenId, given, got);
    }

    function fill(Order memory order, address taker, uint256 given, uint256 got, uint256 fee) private {
        emit OrderFilled(
            hashOrder(order),
            order.maker,
            taker,
            order.side,
            order.tokenId,
            given,
            got,
            fee,
            order.builder,
            order.metadata
        );
    }
}
