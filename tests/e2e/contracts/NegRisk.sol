// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// Shares of conditional tokens on a test node: as much of ERC-1155 as moves balances, and the transfers it logs. Its ids are those of the venue's tokens.
contract Shares {
    event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values);

    event ConditionPreparation(
        bytes32 indexed conditionId, address indexed oracle, bytes32 indexed questionId, uint256 outcomeSlotCount
    );

    mapping(uint256 => mapping(address => uint256)) public balanceOf;

    function prepare(address oracle, bytes32 questionId) external {
        emit ConditionPreparation(keccak256(abi.encodePacked(oracle, questionId, uint256(2))), oracle, questionId, 2);
    }

    /// `from` zero makes shares, `to` zero burns them.
    function move(address from, address to, uint256[] memory ids, uint256 value) external {
        uint256[] memory values = new uint256[](ids.length);
        for (uint256 i = 0; i < ids.length; i++) {
            values[i] = value;
            if (from != address(0)) balanceOf[ids[i]][from] -= value;
            if (to != address(0)) balanceOf[ids[i]][to] += value;
        }
        emit TransferBatch(msg.sender, from, to, ids, values);
    }
}

/// A neg-risk adapter on a test node: full sets, and conversions with a fee. Collateral is a number per account.
contract Adapter {
    event PositionSplit(address indexed stakeholder, bytes32 indexed conditionId, uint256 amount);
    event PositionsConverted(
        address indexed stakeholder, bytes32 indexed marketId, uint256 indexed indexSet, uint256 amount
    );

    event MarketPrepared(bytes32 indexed marketId, address indexed oracle, uint256 feeBips, bytes data);

    Shares private constant SHARES = Shares(0x4D97DCd97eC945f40cF65F87097ACe5EA0476045);
    address private constant BURN = 0xa5Ef39C3D3e10d0B270233af41CaC69796B12966;
    address private constant VAULT = 0x7f67327E88c258932D7d8f72950bE0d46975E11D;

    mapping(address => int256) public collateral;

    function prepareMarket(bytes32 market, uint256 feeBips, bytes memory data) external {
        emit MarketPrepared(market, msg.sender, feeBips, data);
    }

    function split(bytes32 condition, uint256[] memory pair, uint256 amount) external {
        collateral[msg.sender] -= int256(amount);
        SHARES.move(address(0), msg.sender, pair, amount);
        emit PositionSplit(msg.sender, condition, amount);
    }

    /// `no`: of the questions in `indexSet`, `yes`: of all others, in their order.
    function convert(
        bytes32 market,
        uint256 indexSet,
        uint256[] memory no,
        uint256[] memory yes,
        uint256 amount,
        uint256 feeBips
    ) external {
        uint256 fee = (amount * feeBips) / 10_000;
        uint256 released = no.length - 1;
        SHARES.move(msg.sender, BURN, no, amount);
        SHARES.move(address(0), address(this), yes, amount);
        collateral[msg.sender] += int256(released * (amount - fee));
        collateral[VAULT] += int256(released * fee);
        if (yes.length > 0) {
            if (fee > 0) SHARES.move(address(this), VAULT, yes, fee);
            SHARES.move(address(this), msg.sender, yes, amount - fee);
        }
        emit PositionsConverted(msg.sender, market, indexSet, amount);
    }
}
